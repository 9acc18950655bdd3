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


def test_doctor_names_variables_with_impossible_values(monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_WAIT_LIMIT_MS", "0")
    monkeypatch.setenv("MEGAKITTENS_BLOCKING", "perhaps")
    monkeypatch.setenv("MEGAKITTENS_LOG", "loud")
    monkeypatch.setenv("MEGAKITTENS_VERIFY", "maybe")
    text = megakittens("doctor").stdout
    for word in ("WAIT_LIMIT_MS=0: expected", "BLOCKING=perhaps: expected", "'loud' is no level", "VERIFY=maybe: expected"):
        assert word in text, word


@pytest.mark.parametrize("inside", [False, True])
def test_doctor_says_that_a_cache_folder_is_a_file(monkeypatch, tmp_path, inside):
    path = tmp_path / "cache"
    path.write_text("")
    monkeypatch.setenv("MEGAKITTENS_CACHE_DIR", str(path / "in" if inside else path))
    assert "0 compiled, cannot be used: it is no folder, or lies in a file" in megakittens("doctor").stdout


def test_a_log_level_that_does_not_exist_is_told_once_and_stops_nothing(monkeypatch, graph, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_LOG", "loud")
    monkeypatch.setenv("MEGAKITTENS_CASHE_DIR", "x")
    done = megakittens("schedule", graph)
    assert done.stderr.count("MEGAKITTENS_LOG is set to what it cannot be, and has no effect: log levels 'loud'") == 1
    assert done.stderr.count("MEGAKITTENS_CASHE_DIR is set") == 1
    monkeypatch.delenv("MEGAKITTENS_CASHE_DIR")
    assert "MEGAKITTENS_LOG" in megakittens("schedule", graph).stderr


def test_help_names_every_command_and_the_exit_codes():
    text = megakittens("--help").stdout
    for word in ("schedule", "run", "inspect", "doctor", "Exit codes"):
        assert word in text, word


@pytest.mark.parametrize("command", ["schedule", "run", "inspect", "doctor"])
def test_every_command_has_help(command):
    text = megakittens(command, "--help").stdout
    assert f"megakittens {command}" in text and "Exit codes" in text


def test_a_second_command_is_an_argument_too_many(graph):
    assert "'schedule' takes no further argument 'run'" in error("schedule", graph, "run", "/nonexistent")


@pytest.mark.parametrize(
    "command, option",
    [("schedule", "--sms"), ("schedule", "--target"), ("run", "--gpu"), ("run", "--graph"), ("run", "--check"), ("check", "--replay")],
)
def test_an_empty_value_is_no_value(graph, command, option):
    assert f"{option} of '{command}' takes a value, and was given an empty one" in error(command, graph, option, "")


def test_control_characters_in_names_do_not_reach_the_terminal(graph, tmp_path):
    graph.write_text(graph.read_text().replace('"small"', '"sm\\u001b[31mall"').replace("model.py:3", "mo\\u007fdel\\u009b.py:3"))
    path = tmp_path / "small.mkp"
    megakittens("schedule", graph, "--sms", 4, "--fusion", "off", "-o", path)
    plain = [megakittens(command, graph).stdout for command in ("inspect", "schedule")]
    plain += [megakittens("inspect", path).stdout, megakittens("run", path).stdout, megakittens("check", path, "--schedules", 1).stdout]
    plain.append(error("check", graph, "--replay", tmp_path / "a\x1bb"))
    objects = [megakittens(command, path, "--json").stdout for command in ("run", "check")]
    for text in plain + objects:
        assert not set(text) & {"\x1b", "\x7f", "\x9b"}, repr(text)
    assert "sm\\x1b[31mall" in plain[2] and "mo\\x7fdel\\x9b.py" in plain[2] and "a\\x1bb" in plain[-1]
    for text in objects:
        json.loads(text)


def test_the_version_is_printed():
    assert megakittens("--version").stdout.startswith("megakittens 0.")


def test_a_missing_command_is_told():
    assert "a command is missing; known are schedule, run, check, inspect, types, doctor" in error()


def test_an_unknown_command_is_told():
    assert "unknown command 'shedule'; known are schedule, run, check, inspect, types, doctor" in error("shedule")
