"""Captured graphs equal the files of tests/golden; MEGAKITTENS_UPDATE_GOLDENS=1 rewrites them."""

import os
import pathlib

import pytest
from golden_functions import GOLDENS

import megakittens

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "golden"


@pytest.mark.parametrize("name", GOLDENS)
def test_a_captured_graph_equals_its_golden(name):
    function, make_inputs = GOLDENS[name]
    graph = megakittens.capture(function, *make_inputs())
    path = FOLDER / f"{name}.mkg.json"
    if os.environ.get("MEGAKITTENS_UPDATE_GOLDENS") == "1":
        graph.save(str(path))
    assert path.read_text() == graph.to_json()
    assert megakittens.load(str(path)) == graph
