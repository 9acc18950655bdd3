"""What the lint tests share: the files of the tree, read once, and how faults are shown."""

import functools
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = {".cpp", ".hpp", ".cuh", ".cu"}
SOURCE = CPP | {".py", ".sh", ".cmake", ".def", ".inc"}


@functools.cache
def files() -> tuple[pathlib.PurePosixPath, ...]:
    """Every file that git tracks or would track, relative to the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return tuple(pathlib.PurePosixPath(name) for name in sorted(set(names)) if name and (ROOT / name).is_file())


@functools.cache
def text(path: pathlib.PurePosixPath) -> str:
    """The file's text; empty for a binary one."""
    content = (ROOT / path).read_bytes()
    return "" if b"\0" in content else content.decode("utf-8")


def lines(path: pathlib.PurePosixPath) -> list[tuple[int, str]]:
    return list(enumerate(text(path).splitlines(), start=1))


def under(folder: str, suffixes: set[str] = SOURCE) -> list[pathlib.PurePosixPath]:
    return [path for path in files() if path.is_relative_to(folder) and path.suffix in suffixes]


def expect_none(faults: list[str], rule: str) -> None:
    assert not faults, f"{rule}:\n  " + "\n  ".join(faults)
