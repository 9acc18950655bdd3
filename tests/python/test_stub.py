"""The stub of the extension is what nanobind makes of it; MEGAKITTENS_UPDATE_GOLDENS=1 rewrites it."""

import os
import pathlib

from nanobind.stubgen import StubGen

from megakittens import _core

STUB = pathlib.Path(__file__).resolve().parents[2] / "python/megakittens/_core.pyi"


def test_the_stub_is_that_of_the_extension():
    generator = StubGen(_core)
    generator.put(_core)
    stub = generator.get()
    if os.environ.get("MEGAKITTENS_UPDATE_GOLDENS") == "1":
        STUB.write_text(stub)
    assert STUB.read_text() == stub
