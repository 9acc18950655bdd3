"""A small graph, and the program made from it."""

import pathlib

import pytest
from cli_program import SMALL, megakittens


@pytest.fixture
def graph(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "small.mkg.json"
    path.write_text(SMALL)
    return path


@pytest.fixture
def program(graph: pathlib.Path) -> pathlib.Path:
    path = graph.parent / "small.mkp"
    megakittens("schedule", graph, "--sms", 4, "--fusion", "off", "-o", path)
    return path
