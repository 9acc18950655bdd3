"""The runners cannot pass by running nothing: the fault that known systems of this kind have."""

from tree import ROOT


def test_tests_that_pass_because_nothing_ran():
    runner = (ROOT / "tools/test.sh").read_text()
    assert "--no-tests=error" in runner, "CTest must fail where it finds no test"
    assert "report_skips.py" in runner, "skipped tests must be counted and told"
    gpu = (ROOT / "tools/gpu/test.sh").read_text()
    assert "MEGAKITTENS_REQUIRE_GPU=1" in gpu, "the GPU suite must fail, not skip, without a GPU"
    assert "--no-tests=error" in gpu, "CTest must fail where it finds no test"
    assert "MEGAKITTENS_REQUIRE_GPU" in (ROOT / "tests/python/gpu/conftest.py").read_text()
    assert "MEGAKITTENS_REQUIRE_GPU" in (ROOT / "tests/gpu/fixture.hpp").read_text()
    gpu_tests = [path.read_text() for path in (ROOT / "tests/gpu").glob("*_test.cpp")]
    fails_without = ("MEGAKITTENS_REQUIRE_GPU", '"gpu/fixture.hpp"')
    assert gpu_tests and all(any(name in text for name in fails_without) for text in gpu_tests)
