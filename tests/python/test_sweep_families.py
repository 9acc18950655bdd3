"""The families that bench/gpu/sweep.py draws from: the same seed gives the same cases, they cover what they name, and keep their sizes."""

import collections
import json
import math
import pathlib
import sys

import pytest
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from gpu import families  # noqa: E402
from gpu.families import expressions, layers, sizes  # noqa: E402
from gpu.families.case import Case, Operand, contiguous_strides  # noqa: E402

SEED, MANY = 11, 120
CASES = {family: [families.make(SEED, family, number) for number in range(MANY)] for family in families.FAMILIES}
PRODUCTS = ["product", "product_odd", "product_transposed", "product_square", "product_multiple_of_8"]


def sides(case):
    """(batch, m, n, k) of a product."""
    a, b = case.operands
    return (a.shape[0] if len(a.shape) == 3 else 1), a.shape[-2], b.shape[-1], a.shape[-1]


def every(family):
    return "\n".join(case.source for case in CASES[family])


def test_a_seed_and_a_name_give_the_same_case_in_every_sweep():
    for family in families.FAMILIES:
        assert families.make(SEED, family, 7) == CASES[family][7] != families.make(SEED + 1, family, 7)
    whole = {case.name: case for case in families.deal(SEED, 300, list(families.FAMILIES))}
    part = families.deal(SEED, 20, ["copy", "product"])
    assert all(whole[case.name] == case for case in part) and part == families.deal(SEED, 20, ["copy", "product"])


def test_cases_are_dealt_by_weight_and_each_family_gets_a_few():
    for count in (60, 115, 400):
        dealt = families.counts(count, list(families.FAMILIES))
        assert sum(dealt.values()) == count and min(dealt.values()) >= families.FEWEST
    assert dealt["pointwise"] > 2 * dealt["product_chain"]
    assert families.counts(5, ["copy", "product"]) == {"copy": 3, "product": 3}


@pytest.mark.parametrize("family", families.FAMILIES)
def test_a_case_survives_json_and_keeps_the_limits(family):
    assert len({json.dumps([o.shape for o in case.operands]) for case in CASES[family]}) > (3 if family == "product_square" else 30)
    for case in CASES[family]:
        assert Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case
        assert case.flop <= sizes.MOST_FLOP * 1.01 and case.bytes <= sizes.MOST_BYTES * 1.01, case
        assert all(operand.span * 4 <= 3 * sizes.MOST_BYTES for operand in case.operands), case
        assert case.output_elements > 0 and all(size > 0 for operand in case.operands for size in operand.shape), case


def test_products_have_all_layouts_types_and_batches():
    seen = collections.Counter()
    for family in PRODUCTS:
        for case in CASES[family]:
            a, b = case.operands
            batch, m, n, k = sides(case)
            assert case.flop == 2 * batch * m * n * k
            if m > 1 and k > 1 and n > 1:
                seen["a", a.strides[-1] == 1] += 1
                seen["b", b.strides[-1] == 1] += 1
            seen[a.dtype] += 1
            seen["batched", len(a.shape) == 3] += 1
            seen["pitched", a.span > math.prod(a.shape) or b.span > math.prod(b.shape)] += 1
    assert min(seen.values()) >= 10 and len(seen) == 10, seen


def test_each_family_of_products_has_the_sides_it_names():
    assert all(any(side % 8 for side in sides(case)[1:]) for case in CASES["product_odd"])
    assert all(case.operands[0].strides[-2] == 1 for case in CASES["product_transposed"])
    assert {sides(case) for case in CASES["product_square"]} == {(1, s, s, s) for s in (1024, 2048, 4096, 8192)}
    for case in CASES["product_multiple_of_8"]:
        assert all(128 <= side <= 8192 and side % 8 == 0 for side in sides(case)[1:])
    smallest, largest = min(min(sides(c)) for c in CASES["product"]), max(max(sides(c)) for c in CASES["product"])
    assert smallest < 4 and 4000 < largest <= 8192


def test_a_fifth_of_the_sizes_fits_no_tile():
    drawn = [side for case in CASES["linear_chain"] for operand in case.operands[1:2] for side in operand.shape]
    assert 0.1 < sum(side % 8 != 0 for side in drawn) / len(drawn) < 0.3


def test_chains_have_every_activation_bias_and_length():
    source = every("linear_chain")
    for template in layers.ACTIVATIONS.values():
        assert template.format("F.linear(x, w0)") in source
    lengths = {case.source.count("F.linear") for case in CASES["linear_chain"]}
    assert lengths == set(range(2, 9))
    shapes = {(len(o.shape), o.name[0]) for case in CASES["linear_chain"] for o in case.operands}
    assert shapes == {(2, "x"), (2, "w"), (1, "b"), (2, "b")} and ") + x\n" in source
    assert any(all(o.name[0] != "b" for o in case.operands) for case in CASES["linear_chain"])
    rows = [case.operands[0].shape[0] for case in CASES["linear_chain"]]
    assert min(rows) < 8 and max(rows) > 2048
    widths = {case.operands[1].shape[-1] for case in CASES["seed_mlp"]}
    assert {512, 1024, 2048, 4096} < widths and all(width % 8 == 0 for width in widths)
    assert {case.source.count("@") for case in CASES["product_chain"]} == set(range(2, 7))


def test_gated_blocks_and_few_rows_are_what_they_say():
    for case in CASES["gated_mlp"]:
        tokens, hidden = case.operands[0].shape
        assert 1 <= tokens <= 8192 and 1024 <= hidden <= 4096
    for case in CASES["few_rows"]:
        assert 1 <= case.operands[0].shape[0] <= 32 and all(o.bytes >= 64 * 2**20 for o in case.operands[1:])
    assert {len(case.operands) - 1 for case in CASES["few_rows"]} == {1, 8}


def test_pointwise_cases_have_every_layout_broadcast_type_and_operation():
    seen, source = collections.Counter(), every("pointwise") + every("pointwise_large")
    for case in CASES["pointwise"] + CASES["pointwise_large"]:
        out = max((o.shape for o in case.operands), key=lambda shape: (math.prod(shape), len(shape)))
        seen["types", len({o.dtype for o in case.operands})] += 1
        seen["inputs", len(case.operands)] += 1
        seen["rank", len(out)] += 1
        for o in case.operands:
            packed = o.strides == contiguous_strides(o.shape)
            seen["offset"] += o.offset > 0
            seen["repeated"] += 0 in o.strides
            seen["step"] += bool(o.shape) and o.strides[-1] > 1 and o.shape[-1] > 1
            seen["packed"] += packed
            seen["narrow"] += bool(o.shape) and o.shape[-1] in (17, 19, 23)
            seen["rank 0"] += not o.shape
            seen["row"] += len(o.shape) == 1 < len(out)
            seen["column"] += 1 < len(out) == len(o.shape) and o.shape[-1] == 1 < out[-1]
    assert min(seen.values()) > 0 and {("rank", r) for r in (1, 2, 3, 4)} < set(seen), seen
    assert {("inputs", n) for n in (1, 2, 3, 4)} < set(seen) and {("types", n) for n in (1, 2)} < set(seen)
    names = [*expressions.SMOOTH.values(), *expressions.BINARY.values()]
    called = {text.partition("(")[0] for text, _ in names if text.startswith(("torch.", "F."))} | {"torch.floor", "torch.where"}
    assert all(f"{name}(" in source for name in called)
    for case in CASES["pointwise_large"]:
        assert max(o.bytes for o in case.operands) >= 64 * 2**20


def test_sweeps_draw_the_operations_of_the_reference():
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/reference/operations.md").read_text()
    listed = {row.split("`")[1] for row in page.splitlines() if row.startswith("| `")}
    by_symbol = {"where", "floor", "round", "identity", "eq", "ne", "lt", "le", "gt", "ge"}  # selections, casts, and inputs alone
    drawn = listed & (set(expressions.SMOOTH) | set(expressions.BINARY) | by_symbol)
    assert len(drawn) >= 36, f"in no sweep: {listed - drawn}"  # an operation added since need not be drawn


def test_copies_move_their_elements():
    source = every("copy")
    for text in (".t()", ".permute(", "::2", "::3", ".to(torch.bfloat16)", ".contiguous()", "torch.contiguous_format"):
        assert text in source
    assert {len(case.operands[0].shape) for case in CASES["copy_large"]} == {2, 3, 4}
    for case in CASES["copy_large"]:
        assert case.exact and case.operands[0].bytes >= 32 * 2**20
    for case in CASES["copy"]:
        if case.operands[0].span < 1e5:
            inputs = case.inputs("cpu", 0)
            assert case.function()(*inputs).data_ptr() != inputs[0].data_ptr(), case


def test_small_cases_run_and_stay_finite():
    ran = 0
    for family in ("pointwise", "copy", "product", "product_odd"):
        for case in CASES[family]:
            if case.bytes > 2e4 or case.flop > 2e6:
                continue
            inputs = case.inputs("cpu", 0)
            result, reference = case.function()(*inputs), case.reference(inputs, torch.float64)
            assert result.isfinite().all() and reference.shape == result.shape, case
            assert reference.dtype in (torch.float64, torch.bool)
            assert case.bytes == sum(o.bytes for o in case.operands) + result.numel() * result.element_size()
            ran += 1
    assert ran > 30


def test_an_operand_is_the_view_that_it_describes():
    operand = Operand("x", "f16", [3, 4], [20, 2], 5, 2.0)
    assert (operand.span, operand.bytes, str(operand)) == (52, 24, "x f16[3, 4] strides [20, 2] offset 5")
    built = operand.random("cpu", torch.Generator().manual_seed(1))
    assert built.storage_offset() == 5 and built.stride() == (20, 2) and built.dtype is torch.float16
    assert Operand("x", "f32", [8, 4], [0, 1]).bytes == 16
    assert Operand.ordered("x", "f32", [2, 3, 5], [2, 0, 1]).strides == [3, 1, 6]
