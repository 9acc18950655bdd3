"""The code of docs/guides/python.md, to be run as a reader would."""

import pathlib
import re
import runpy

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/python.md"


def blocks(heading):
    """The Python blocks of one section, those of its subsections not among them."""
    section = re.split(r"^#+ .*$", PAGE.read_text(), flags=re.M)
    headings = ["", *re.findall(r"^#+ .*$", PAGE.read_text(), flags=re.M)]
    return re.findall(r"```python\n(.*?)```", section[headings.index(heading)], flags=re.S)


def run(path, *codes, **names):
    """One after the other in one file, which PyTorch can read."""
    path.write_text("\n".join(codes))
    return runpy.run_path(str(path), init_globals=names)
