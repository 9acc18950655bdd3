import pytest


@pytest.fixture(autouse=True)
def fresh_dynamo():
    """What one test compiled does not reach the next."""
    yield
    import sys

    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo"].reset()
