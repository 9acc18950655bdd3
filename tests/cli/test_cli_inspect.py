"""megakittens inspect, doctor, and the program's own options."""

import json

import pytest
from cli_program import error, megakittens


def test_a_program_is_shown_as_tables(program):
    text = megakittens("inspect", program).stdout
    for word in ("program 'small' for sm_90a", "bf16[64, 64]", "workspace", "gemm", "waits for", "model.py:3"):
        assert word in text, word


def test_a_long_program_is_cut_unless_all_is_asked_for(graph, tmp_path):
    path = tmp_path / "p.mkp"
    big = graph.read_text().replace("[64, 64]", "[1024, 1024]")
    graph.write_text(big)
    options = ("--tiling", "seed", "--fusion", "off", "--json", "-o", path)
    count = json.loads(megakittens("schedule", graph, *options).stdout)["instructions"]
    assert f"and {count - 40} more; --all lists them" in megakittens("inspect", path).stdout
    assert "more; --all" not in megakittens("inspect", path, "--all").stdout


def test_an_instruction_is_decoded_field_by_field(program):
    text = megakittens("inspect", program, "--instruction", 0).stdout
    for word in ("instruction 0: SM 0, its number 0", "node 0 'mm' (matmul) at model.py:3", "operand 0", "output", "raises"):
        assert word in text, word


def test_a_graph_is_shown_as_a_graph(graph):
    assert "matmul" in megakittens("inspect", graph).stdout


@pytest.mark.parametrize("number", ["100000", "-1", "first"])
def test_an_instruction_that_does_not_exist_is_named(program, number):
    assert f"--instruction takes a whole number from 0 to" in error("inspect", program, "--instruction", number)


def test_a_graph_has_no_instructions(graph):
    assert "a graph has no instructions" in error("inspect", graph, "--instruction", 0)


def test_doctor_says_what_is_there_and_what_that_allows():
    text = megakittens("doctor").stdout
    for word in ("driver", "GPU", "NVRTC", "compilers", "emulator", "what that allows", "schedule", "run"):
        assert word in text, word


def test_doctor_names_an_unknown_variable(monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_CASHE_DIR", "x")
    assert "MEGAKITTENS_CASHE_DIR" in megakittens("doctor").stdout


def test_help_names_every_command_and_the_exit_codes():
    text = megakittens("--help").stdout
    for word in ("schedule", "run", "inspect", "doctor", "Exit codes"):
        assert word in text, word


@pytest.mark.parametrize("command", ["schedule", "run", "inspect", "doctor"])
def test_every_command_has_help(command):
    text = megakittens(command, "--help").stdout
    assert f"megakittens {command}" in text and "Exit codes" in text


def test_the_version_is_printed():
    assert megakittens("--version").stdout.startswith("megakittens 0.")


def test_a_missing_command_is_told():
    assert "a command is missing; known are schedule, run, check, inspect, types, doctor" in error()


def test_an_unknown_command_is_told():
    assert "unknown command 'shedule'; known are schedule, run, check, inspect, types, doctor" in error("shedule")
