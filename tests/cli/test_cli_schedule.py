"""megakittens schedule."""

import json

import pytest
from cli_program import MLP, ROOT, error, megakittens


def summary(*arguments: object) -> dict:
    return json.loads(megakittens("schedule", *arguments, "--json").stdout)


def test_json_gives_the_figures_of_the_seed():
    want = json.loads((ROOT / "tests/golden/mlp_1024_sm100a.json").read_text())
    got = summary(MLP, "--target", "sm_100a", "--tiling", "seed", "--fusion", "off")
    for key in ("instructions", "tensor_slots", "barriers", "sms", "cluster", "target"):
        assert got[key] == want[key], key
    for node, expected in zip(got["nodes"], want["nodes"], strict=True):
        assert {key: node[key] for key in ("op", "first", "count")} == {
            key: expected[key] for key in ("op", "first", "count")
        }
    assert got["icodes"] == len(got["icode_names"]) == 2
    assert got["waves"] * got["sms"] == got["instructions"] + got["empty_slots"]


SYMBOLIC = """{"megakittens_graph": 2, "name": "scaled", "symbols": {"s0": 128},
 "values": [{"name": "x", "dtype": "bf16", "shape": ["s0", 64]}, {"name": "y", "dtype": "bf16", "shape": ["s0", 64]}],
 "inputs": [0], "nodes": [{"op": "relu", "name": "y", "operands": [[0]], "outputs": [1]}], "outputs": [[1]]}"""


@pytest.fixture
def symbolic(tmp_path):
    path = tmp_path / "scaled.mkg.json"
    path.write_text(SYMBOLIC)
    return path


def test_bind_gives_a_symbol_its_size(symbolic, tmp_path):
    for size in (64, 192):
        out = tmp_path / f"{size}.mkp"
        megakittens("schedule", symbolic, "--bind", f"s0={size}", "-o", out)
        assert f"bf16[{size}, 64]" in megakittens("inspect", out).stdout
        fitting = megakittens("run", symbolic, "--bind", f"s0={size}", "--sms", 4)
        assert "scaled" in fitting.stdout
        megakittens("run", out, "--graph", symbolic, "--bind", f"s0={size}")
    assert "bf16[s0, 64]" in megakittens("inspect", symbolic).stdout
    assert "--bind has no effect on a program" in error("run", out, "--bind", "s0=64")
    assert "has unbound symbols s0" in error("run", out, "--graph", symbolic)


@pytest.mark.parametrize(
    "bindings, message",
    [
        ([], "graph 'scaled' has unbound symbols s0: bind them first"),
        (["s1=4"], "graph 'scaled' has no symbol 's1'; it has s0"),
        (["s0"], "--bind takes SYMBOL=SIZE, as in s0=512, not 's0'"),
        (["=4"], "--bind takes SYMBOL=SIZE, as in s0=512, not '=4'"),
        (["s0=many"], "--bind s0 takes a whole number from 1 to 281474976710656, not 'many'"),
        (["s0=0"], "--bind s0 takes a whole number from 1 to 281474976710656, not '0'"),
        (["s0=4", "s0=8"], "--bind s0 is given twice"),
    ],
)
def test_a_mistake_in_bind_is_named(symbolic, bindings, message):
    options = [word for text in bindings for word in ("--bind", text)]
    for command in ("schedule", "run", "check"):
        assert message in error(command, symbolic, *options)


@pytest.mark.parametrize("target, sms", [("sm_90a", 132), ("sm_100a", 148), ("sm_103a", 148)])
def test_the_target_decides_the_number_of_sms(graph, target, sms):
    got = summary(graph, "--target", target)
    assert (got["target"], got["sms"], got["cluster"], got["queue"]) == (target, sms, 2, "per-sm")


def test_dump_prints_the_graph_behind_a_pass(graph):
    text = megakittens("schedule", graph, "--dump", "fuse_pointwise").stdout
    assert text.count("behind ") == 1 and "behind fuse_pointwise (" in text
    every = megakittens("schedule", graph, "--dump", "all").stdout
    passes = ("fold_constants", "fold_copies", "fuse_pointwise", "pad_operands", "merge_equal_nodes")
    assert [every.index(f"behind {name} (") for name in passes] == sorted(every.index(f"behind {name} (") for name in passes)
    assert "behind fuse" not in megakittens("schedule", graph, "--dump", "all", "--fusion", "off").stdout
    assert "unknown pass 'fuse'; known are fold_constants, fold_copies" in error("schedule", graph, "--dump", "fuse")
    assert "--dump prints text and --json one object" in error("schedule", graph, "--dump", "all", "--json")


def test_fusion_joins_the_chain(graph):
    assert [node["op"] for node in summary(graph, "--fusion", "off")["nodes"]] == ["gemm", "relu"]
    assert len(summary(graph)["nodes"]) == 1


def test_options_reach_the_program(graph):
    got = summary(graph, "--sms", 6, "--cluster", 1, "--queue", "global")
    assert (got["sms"], got["cluster"], got["queue"], got["empty_slots"]) == (6, 1, "global", 0)


def test_the_summary_is_readable(graph):
    text = megakittens("schedule", graph, "--fusion", "off").stdout
    assert "program 'small' for sm_90a: 132 SMs in clusters of 2, per-sm queue" in text
    assert "model.py:3" in text
    assert " gemm " in text


def test_binary_and_text_programs_hold_the_same(graph, tmp_path):
    for name in ("p.mkp", "p.txt"):
        megakittens("schedule", graph, "-o", tmp_path / name)
    shown = {megakittens("inspect", tmp_path / name).stdout for name in ("p.mkp", "p.txt")}
    assert len(shown) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--target", "sm_80"], "unknown target 'sm_80'; known are sm_90a, sm_100a, sm_103a"),
        (["--queue", "fifo"], "unknown queue mode 'fifo'; known are per-sm, global"),
        (["--tiling", "big"], "unknown tiling 'big'; known are auto, seed"),
        (["--fusion", "yes"], "--fusion takes on or off, not 'yes'"),
        (["--numerics", "fp64"], "numerics 'fp64' is unknown; known are 'eager' and 'fused'"),
        (["--sms", "many"], "--sms takes a whole number from 1 to 4096, not 'many'"),
        (["--sms", "-3"], "--sms takes a whole number from 1 to 4096, not '-3'"),
        (["--cluster", "3"], "--cluster takes a whole number from 1 to 2, not '3'"),
        (["--sms", "5"], "5 SMs"),
        (["--sm", "5"], "unknown option '--sm' of 'schedule'; known are"),
        (["--jsno"], "--tiling, --numerics, --folding, --views, --fusion, --padding, --merging, --dump, --json"),
        (["second.json"], "'schedule' takes no further argument 'second.json'"),
        (["-o", "no/such/folder/p.mkp"], "cannot write 'no/such/folder/p.mkp': No such file or directory"),
    ],
)
def test_a_mistake_is_named(graph, arguments, message):
    assert message in error("schedule", graph, *arguments)


def test_a_missing_file_is_named():
    assert "cannot open 'no.mkg.json': No such file or directory" in error("schedule", "no.mkg.json")


def test_a_missing_argument_is_named():
    assert "G is required" in error("schedule")


@pytest.mark.parametrize("content", ["", "hello", "\0\1\2"])
def test_a_foreign_file_is_named(tmp_path, content):
    path = tmp_path / "x.mkg.json"
    path.write_text(content)
    assert f"{path}: neither a graph (.mkg.json) nor a program file" in error("schedule", path)


def test_a_damaged_graph_is_named_with_its_place(graph):
    graph.write_text(graph.read_text()[:-40])
    message = error("schedule", graph)
    assert str(graph) in message and "line" in message


def test_a_program_is_not_scheduled_again(program):
    assert "a program; schedule takes a graph" in error("schedule", program)


def test_an_unsupported_operation_is_named_with_its_line(graph):
    opaque = '"op": "call", "attributes": {"target": "aten.sort"}'
    graph.write_text(graph.read_text().replace('"op": "matmul"', opaque))
    message = error("schedule", graph)
    assert "aten.sort" in message and "model.py:3" in message


def test_a_program_that_cannot_be_written_is_an_error(graph):
    assert "No space left" in error("schedule", graph, "-o", "/dev/full")
    assert "a path is missing" in error("schedule", graph, "-o", "")
    assert "is the graph itself" in error("schedule", graph, "-o", graph)
    assert "values" in json.loads(graph.read_text())
