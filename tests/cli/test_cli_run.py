"""megakittens run."""

import json
import re

import pytest
from cli_program import ROOT, error, megakittens

FEW = ("--sms", 4)


def test_a_graph_is_compared_with_the_reference(graph):
    text = megakittens("run", graph, *FEW).stdout
    assert "no findings" in text
    assert re.search(r"against eager's numerics: largest error \S+, mean \S+", text)
    assert "against fp32 throughout" in text
    assert "result: equal to the reference within tolerance" in text
    assert re.search(r"time: \S+ s to read and schedule, \S+ s on the emulator, \S+ s for the reference", text)


@pytest.mark.parametrize("options", [("--fusion", "off"), ("--queue", "global"), ("--cluster", 1), ("--check", "off"), ("--tiling", "seed")])
def test_every_way_of_running_gives_the_same(graph, options):
    got = [json.loads(megakittens("run", graph, *FEW, *more, "--json").stdout) for more in ((), options)]
    assert got[0]["ok"] and got[1]["ok"] and got[1]["compared"]
    assert got[0]["tensors"] == got[1]["tensors"]


def test_results_depend_on_the_inputs_seed_and_not_on_the_schedules(graph):
    def exact(*options):
        return json.loads(megakittens("run", graph, *FEW, "--json", *options).stdout)["tensors"][0]["exact"]

    first = exact()
    assert exact("--schedule-seed", 99) == first
    assert exact("--input-seed", 2) != first


def test_fused_numerics_are_judged_by_fp32_too(graph):
    text = graph.read_text().replace('"relu"', '"silu"')
    graph.write_text(text)
    assert "result: equal" in megakittens("run", graph, *FEW, "--numerics", "fused").stdout


def test_a_written_input_is_compared(tmp_path):
    text = megakittens("run", ROOT / "tests/golden/cache_update.mkg.json", *FEW).stdout
    assert "after the run" in text


def test_a_program_alone_runs_without_reference(program):
    text = megakittens("run", program).stdout
    assert "not compared, a program alone has no reference" in text


def test_a_program_is_compared_with_its_graph(program, graph):
    text = megakittens("run", program, "--graph", graph).stdout
    assert "result: equal to the reference" in text


def test_a_program_that_computes_something_else_is_wrong(program, graph):
    graph.write_text(graph.read_text().replace('"relu"', '"neg"'))
    text = megakittens("run", program, "--graph", graph, code=1).stdout
    assert re.search(r"\d+ of 4096 elements differ, first number \d+: \S+ instead of \S+", text)
    assert "result: WRONG" in text


def test_a_missing_wait_is_found(graph, tmp_path):
    path = tmp_path / "p.txt"
    megakittens("schedule", graph, *FEW, "--fusion", "off", "-o", path)
    path.write_text(re.sub(r"\n *wait [^\n]*", "", path.read_text()))
    text = megakittens("run", path, code=1).stdout
    assert "verifier: [" in text and "result: WRONG" in text


def test_an_instruction_outside_its_tensor_is_refused(graph, tmp_path):
    path = tmp_path / "p.txt"
    megakittens("schedule", graph, *FEW, "-o", path)
    text = path.read_text()
    path.write_text(re.sub(r"(bytes) 8192", r"\1 128", text))
    assert path.read_text() != text
    error("run", path)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--device", "tpu"], "unknown device 'tpu'; known are cuda, emulator"),
        (["--schedule-seed", "x"], "--schedule-seed takes a whole number"),
        (["--input-seed", "-1"], "--input-seed takes a whole number"),
        (["--check", "maybe"], "--check takes on or off, not 'maybe'"),
        (["--graph", "other"], "--graph belongs to a program file"),
        (["--seed", "1"], "unknown option '--seed' of 'run'; known are --help, --device"),
    ],
)
def test_a_mistake_is_named(graph, arguments, message):
    assert message in error("run", graph, *arguments)


def test_scheduling_options_do_not_belong_to_a_program(program):
    assert "already scheduled; --sms has no effect on a program" in error("run", program, "--sms", 8)


@pytest.mark.parametrize("command", ["run", "check", "inspect"])
@pytest.mark.parametrize("icode", ["1", "3", "17"])
def test_a_program_with_another_icode_is_refused(graph, tmp_path, command, icode):
    path = tmp_path / "other.txt"
    megakittens("schedule", graph, "--sms", 4, "--fusion", "off", "-o", path)
    text, count = re.subn(r"(?m)^instruction icode 2 ", f"instruction icode {icode} ", path.read_text())
    assert count > 0
    path.write_text(text)
    message = error(command, path)
    assert str(path) in message
    assert re.search(r"instruction \d+ of node '\w+': .*does not fit type '\w+': ", message)


def test_another_graph_is_refused(program):
    message = error("run", program, "--graph", ROOT / "tests/golden/mlp_1024_sm100a.mkg.json")
    assert "graph 'mlp' has 3 inputs and 1 outputs, program 'small' 2 and 1" in message


def test_a_damaged_program_is_named(program):
    content = bytearray(program.read_bytes())
    content[-100] ^= 1
    program.write_bytes(content)
    assert f"{program}: program file: it is damaged" in error("run", program)


def test_a_cut_program_is_named(program):
    program.write_bytes(program.read_bytes()[:200])
    assert f"{program}: program file: 200 bytes, its header says" in error("run", program)
