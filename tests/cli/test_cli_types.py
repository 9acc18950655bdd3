"""Users' instruction types on the command line: listing, testing, and graphs and programs that use them."""

import json
import pathlib

import pytest
from cli_program import ROOT, error, megakittens

EXAMPLE = ROOT / "build/release/examples/rms_norm.so"
PLUGINS = ROOT / "build/release/plugins"
GRAPH = """{"megakittens_graph": 2, "name": "normed",
 "values": [{"name": "x", "dtype": "bf16", "shape": [40, 64]}, {"name": "w", "dtype": "bf16", "shape": [64]},
            {"name": "y", "dtype": "bf16", "shape": [40, 64]}, {"name": "act", "dtype": "bf16", "shape": [40, 64]}],
 "inputs": [0, 1],
 "nodes": [{"op": "call", "name": "norm", "operands": [[0], [1]], "outputs": [2], "source": "model.py:3",
            "attributes": {"target": "megakittens_example.rms_norm.default", "argument.2": 1e-5}},
           {"op": "relu", "name": "act", "operands": [[2]], "outputs": [3]}],
 "outputs": [[3]]}"""


@pytest.fixture(autouse=True)
def cache(monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_CACHE_DIR", str(ROOT / "build/release/examples/cache"))


@pytest.fixture
def normed(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "normed.mkg.json"
    path.write_text(GRAPH)
    return path


def test_types_are_listed_with_what_a_plugin_brings():
    assert "rms_norm" not in megakittens("types").stdout
    text = megakittens("types", "--plugin", EXAMPLE).stdout
    assert "megakittens_example.rms_norm.default" in text and "gemm_general" in text


def test_testing_needs_a_plugin():
    assert "--plugin brings some" in error("types", "--test")


@pytest.mark.parametrize("option", [("--schedules", 3), ("--target", "sm_90a")])
def test_options_of_the_test_need_the_test(option):
    assert f"{option[0]} has no effect without --test" in error("types", *option)


def test_a_test_has_at_least_one_schedule():
    assert "--schedules takes a whole number from 1" in error("types", "--plugin", EXAMPLE, "--test", "--schedules", 0)


def test_a_graph_with_a_users_type_runs_and_is_checked(normed):
    done = json.loads(megakittens("run", normed, "--plugin", EXAMPLE, "--sms", 4, "--json").stdout)
    assert done["ok"], done
    megakittens("check", normed, "--plugin", EXAMPLE, "--sms", 4, "--schedules", 20)


def test_without_its_type_the_graph_is_refused(normed):
    text = error("run", normed)
    assert "megakittens_example.rms_norm.default is not supported" in text and "docs/guides/instruction-types.md" in text


def test_a_program_names_the_type_that_it_needs(normed, tmp_path):
    program = tmp_path / "normed.mkp"
    megakittens("schedule", normed, "--plugin", EXAMPLE, "--sms", 4, "-o", program)
    for command in ("run", "check", "inspect"):
        text = error(command, program)
        assert "uses instruction type 'rms_norm', which is not registered" in text and "--plugin" in text
    assert "rms_norm" in megakittens("inspect", program, "--plugin", EXAMPLE).stdout
    assert megakittens("run", program, "--graph", normed, "--plugin", EXAMPLE, "--json").stdout.count('"ok": true') == 1


@pytest.mark.parametrize(
    "name, words",
    [
        ("another_version.so", "was compiled for version 4 of <megakittens/instruction_type.hpp>, this library has version 3"),
        ("no_plugin.so", "is no plug-in: it does not use MEGAKITTENS_PLUGIN"),
        ("twins.so", "an instruction type 'twin' is registered already"),
        ("throwing_entry.so", "throwing_entry.so' failed as its types were registered: no licence"),
        ("throwing_name.so", "throwing_name.so' failed as its types were registered: no name yet"),
        ("nowhere.so", "cannot open plug-in"),
        ("../CMakeCache.txt", "cannot open plug-in"),
    ],
)
def test_what_is_no_plugin_of_this_version_is_refused(name, words):
    assert words in error("types", "--plugin", PLUGINS / name)
