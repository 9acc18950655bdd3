"""megakittens check."""

import json
import os
import pty
import re
import subprocess

import pytest
from cli_program import PROGRAM, error, megakittens

# relu(x) @ W: eight instructions that the product waits for.
CHAIN = """{"megakittens_graph": 2, "name": "chain",
 "values": [{"name": "x", "dtype": "bf16", "shape": [128, 256]}, {"name": "W", "dtype": "bf16", "shape": [256, 256]},
            {"name": "r", "dtype": "bf16", "shape": [128, 256]}, {"name": "mm", "dtype": "bf16", "shape": [128, 256]}],
 "inputs": [0, 1],
 "nodes": [{"op": "relu", "name": "act", "operands": [[0]], "outputs": [2], "source": "model.py:2"},
           {"op": "matmul", "name": "mm", "operands": [[2], [1]], "outputs": [3], "source": "model.py:3"}],
 "outputs": [[3]]}"""
FEW = ("--sms", 4, "--cluster", 1)
SHORT = (*FEW, "--schedules", 20)


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.mkg.json"
    path.write_text(CHAIN)
    return path


@pytest.mark.parametrize("options", [(), ("--strategy", "pct"), ("--shadow-only",), ("--queue", "global"), ("--strict",)])
def test_a_right_program_is_silent(chain, options):
    text = megakittens("check", chain, *SHORT, *options).stdout
    assert "verifier: 0 findings" in text
    assert "explorer: 20 schedules from seed 1" in text and "0 of them with findings" in text
    assert text.endswith("result: no findings\n")


def test_a_program_file_is_checked_too(program):
    assert "result: no findings" in megakittens("check", program, "--schedules", 5).stdout


def test_a_planted_fault_is_found_and_told_once(chain):
    text = megakittens("check", chain, *SHORT, "--fault", "no-fence-before-loading-ordinary-stores", code=1).stdout
    assert "verifier: 0 findings" in text
    assert text.count("[proxy-fence-global, row 11 of the hand-off table]") == 1
    assert re.search(r"bulk load of CTA \d+ warp \d+ \(follower, instruction \d+\) reads global memory 'r' \+ 0x", text)
    assert re.search(r"follower of instruction \d+ \(matmul of node 'mm', model.py:3\) reads operand 0, 'r' \[\d+:\d+, 0:256\]", text)
    assert re.search(r"consumer of instruction \d+ \(relu of node 'act', model.py:2\) writes operand 1, 'r' ", text)
    assert text.endswith("result: WRONG\n")


def test_a_fault_of_the_scheduler_is_found_by_verifier_and_checker(chain):
    got = json.loads(megakittens("check", chain, *SHORT, "--fault", "producer-forgotten", "--json", code=1).stdout)
    assert not got["ok"] and got["ran"] and got["schedules"] == 20 and 0 < got["failing"] <= 20
    assert got["verifier"][0].startswith("[read after write]")
    assert any({"rule": "not-released", "row": 10}.items() <= finding.items() for finding in got["findings"])
    assert got["faults"] == ["producer-forgotten"]


def test_a_point_of_the_twins_takes_filters(chain):
    fault = "fence.proxy.async.global:role=follower"
    assert "[proxy-fence-global, row 11" in megakittens("check", chain, *SHORT, "--fault", fault, code=1).stdout


def test_what_is_not_fit_to_run_is_not_run(chain):
    text = megakittens("check", chain, *SHORT, "--fault", "needed-one-too-many", code=1).stdout
    assert "[bounds]" in text and "not fit to be run" in text and "explorer" not in text


def test_a_failing_schedule_is_recorded_and_replayed(chain, tmp_path):
    path = tmp_path / "schedule.json"
    text = megakittens("check", chain, *SHORT, "--fault", "producer-forgotten", "--record", path, code=1).stdout
    recorded = re.search(r"recorded in .*: '([\w-]+)' with seed \d+, (\d+) moves of (\d+) left", text)
    assert recorded and int(recorded[2]) < int(recorded[3])
    again = megakittens("check", chain, *FEW, "--replay", path, code=1).stdout
    assert f"[{recorded[1]}" in again and f"recorded was '{recorded[1]}'" in again
    message = error("check", chain, "--sms", 5, "--cluster", 1, "--replay", path)
    assert "recorded with program 'chain'" in message and "a graph needs the options" in message


def test_nothing_is_recorded_of_a_right_program(chain, tmp_path):
    path = tmp_path / "schedule.json"
    megakittens("check", chain, *SHORT, "--record", path)
    assert not path.exists()


def test_a_damaged_recording_is_named(chain, tmp_path):
    path = tmp_path / "schedule.json"
    for text in ("", "{", '{"megakittens_schedule": 99}', "[]"):
        path.write_text(text)
        assert str(path) in error("check", chain, *FEW, "--replay", path)
    assert "version 99" in error("check", chain, *FEW, "--replay", write(path, '{"megakittens_schedule": 99}'))


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--strategy", "dfs"], "unknown strategy 'dfs'; known are random, pct"),
        (["--schedules", "0"], "--schedules takes a whole number from 1"),
        (["--seed", "x"], "--seed takes a whole number"),
        (["--fault", "none-such"], "unknown fault 'none-such'; known are no-fence-before-loading-ordinary-stores"),
        (["--fault", "mbarrier.try_wait:lane=1"], "unknown filter 'lane'; known are role, object, cta, warp, nth"),
        (["--fault", "reuse-wait-forgotten"], "fault 'reuse-wait-forgotten' finds no place in program 'chain'"),
        (["--replay", "missing.json"], "missing.json"),
        *[
            (["--replay", "f", *option], f"{option[0]} has no effect on --replay")
            for option in (
                ["--schedules", 5], ["--strategy", "pct"], ["--seed", 2], ["--change-points", 2],
                ["--input-seed", 2], ["--threads", 2], ["--shadow-only"], ["--strict"],
            )
        ],
        (["--replay", "f", "--fault", "wait-forgotten"], "the recording names its faults"),
        (["--replay", "f", "--record", "g"], "--record has no effect on --replay"),
    ],
)
def test_a_mistake_is_named(chain, arguments, message):
    assert message in error("check", chain, *FEW, *arguments)


def test_scheduling_options_do_not_belong_to_a_program(program):
    assert "already scheduled; --sms has no effect on a program" in error("check", program, "--sms", 8)


def test_a_bar_is_shown_on_a_terminal(chain):
    master, terminal = pty.openpty()
    command = [PROGRAM, "check", chain, *map(str, FEW), "--schedules", "60"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, timeout=120)
    os.close(terminal)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert done.returncode == 0
    assert re.search(r"schedules \[#*\.+\] \d+/60", shown)
    assert shown.endswith("\r\x1b[K")


def test_a_pipe_gets_nothing_of_a_short_check(chain):
    assert megakittens("check", chain, *SHORT).stderr == ""
