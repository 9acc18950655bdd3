"""Rules on single files: sizes, words, what may print, where assembly stands, format."""

import re
import subprocess

import pytest
from tree import CPP, ROOT, SOURCE, expect_none, files, lines, text, under

# Written in parts, so that this file obeys its own rule.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.}$)/])/(home|root|work|opt|mnt)/\w")
PRIVATE_WORDS = re.compile(r"\b(ses" r"sions?|help" r"er (agents?|ses" r"sions?))\b|--(extra-)?index" r"-url|--find" r"-links", re.I)
# Addresses that a reader anywhere can open; a new one needs a line here.
KNOWN_HOSTS = {"arxiv.org", "docs.nvidia.com", "docs.pytorch.org", "github.com", "json-schema.org", "pytorch.org",
               "www.apache.org", "www.w3.org"}  # fmt: skip
PRINTING = re.compile(r"\bstd::(cout|cerr|clog)\b|(?<!\w)(printf|fprintf|puts|fputs|putchar)\s*\(|\bfmt::print\b|\bstderr\b")
ASSEMBLY = re.compile(r"\b(asm|__asm__|__asm)\b\s*(volatile|__volatile__)?\s*\(")
ARCHITECTURE_CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*(__CUDA_ARCH|\bMK_(SM|ARCH)\w*|\bSM_?\d+)")


def test_a_file_is_short():
    faults = []
    for path in files():
        limit = 800 if path.parts[0] == "tests" else 600
        if path.suffix in SOURCE and len(lines(path)) > limit:
            faults.append(f"{path}: {len(lines(path))} lines, at most {limit}")
    expect_none(faults, "long files hide structure; split them by what they say")


def test_nothing_is_marked_as_unfinished():
    faults = [f"{path}:{n}: {line.strip()}" for path in files() for n, line in lines(path) if UNFINISHED.search(line)]
    expect_none(faults, "finish it, or write down the limit where users look for it")


def test_no_text_depends_on_where_it_was_written():
    faults = []
    for path in files():
        for number, line in lines(path):
            if MACHINE_PATHS.search(line) or PRIVATE_WORDS.search(line):
                faults.append(f"{path}:{number}: {line.strip()}")
            for host in re.findall(r"https?://([\w.-]+)", line):
                if host not in KNOWN_HOSTS:
                    faults.append(f"{path}:{number}: unknown host {host}")
    expect_none(faults, "paths, hosts and words of one workplace mean nothing elsewhere")


def test_library_code_does_not_print():
    faults = []
    for path in under("src", CPP):
        if path.parts[1] == "cli" or str(path) == "src/support/log.cpp":
            continue
        faults += [f"{path}:{n}: {line.strip()}" for n, line in lines(path) if PRINTING.search(line)]
    expect_none(faults, "the log is the one way out of the library")


def test_assembly_stands_in_the_ptx_folder():
    faults = []
    for path in [*under("src", CPP), *under("include", CPP)]:
        if not path.is_relative_to("src/device/ptx"):
            faults += [f"{path}:{n}: {line.strip()}" for n, line in lines(path) if ASSEMBLY.search(line)]
    expect_none(faults, "one function an instruction, in src/device/ptx")


def test_the_architecture_is_in_the_path_not_in_a_condition():
    faults = []
    for path in [*under("src", CPP), *under("include", CPP)]:
        if str(path) == "src/device/machine.cuh" or path.is_relative_to("src/device/core"):
            continue
        faults += [f"{path}:{n}: {line.strip()}" for n, line in lines(path) if ARCHITECTURE_CONDITION.search(line)]
    expect_none(faults, "conditions on the architecture belong to src/device/machine.cuh and src/device/core")


def test_the_license_is_there_whole():
    license_text = text(next(path for path in files() if str(path) == "LICENSE"))
    assert "Apache License" in license_text and "END OF TERMS AND CONDITIONS" in license_text


def test_cpp_sources_are_formatted():
    tool = ROOT / ".venv/bin/clang-format"
    if not tool.exists():
        pytest.skip("clang-format is not installed in .venv")
    pinned = re.search(r"^clang-format==(\S+)", (ROOT / "tools/requirements.txt").read_text(), re.M).group(1)
    found = subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout
    major = pinned.split(".")[0]
    assert f"version {major}." in found, f"tools/requirements.txt pins {pinned}, .venv has {found}"
    sources = [str(path) for path in files() if path.suffix in CPP]
    run = subprocess.run([tool, "--dry-run", "-Werror", *sources], cwd=ROOT, capture_output=True, text=True)
    faults = sorted({line.split(":")[0] for line in run.stderr.splitlines() if "error:" in line})
    assert bool(faults) == (run.returncode != 0), run.stderr
    expect_none(faults, "run `make format`")
