"""The package imports alone, and its exceptions mirror the hierarchy of the library."""

import importlib.metadata
import subprocess
import sys

import pytest

import megakittens


def test_import_loads_neither_torch_nor_a_driver():
    code = (
        "import sys, megakittens\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'libcuda' not in open('/proc/self/maps').read()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_the_version_is_that_of_the_package():
    assert megakittens.__version__ == megakittens.version() == importlib.metadata.version("megakittens")


def test_torch_finds_the_backend_by_its_entry_point():
    names = {point.name: point.value for point in importlib.metadata.entry_points(group="torch_dynamo_backends")}
    assert names["megakittens"] == "megakittens.backend:backend"


@pytest.mark.parametrize(
    "name, base",
    [
        ("UserError", "Error"),
        ("UnsupportedError", "UserError"),
        ("FormatError", "UserError"),
        ("CapacityError", "UserError"),
        ("OptionError", "UserError"),
        ("ExecutionError", "Error"),
        ("InternalError", "Error"),
    ],
)
def test_errors_have_the_hierarchy_of_the_library(name, base):
    error = getattr(megakittens, name)
    assert error.__bases__ == (getattr(megakittens, base),)
    assert issubclass(megakittens.Error, RuntimeError)
