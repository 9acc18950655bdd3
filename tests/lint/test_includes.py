"""Includes follow the layers, and device code is a closed world."""

import pathlib
import re

from tree import CPP, ROOT, expect_none, lines, under

# The order in docs/dev/layout.md: a folder of src/ may include itself and what stands before it.
LAYERS = ["support", "ir", "program", "device", "ops", "frontend", "passes", "schedule", "interpreter", "jit", "emulator",
          "runtime", "api", "cli"]  # fmt: skip
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Conditions that hold when device code is compiled for a GPU; the other branch is the host's.
ON_GPU = re.compile(r"^\s*(MK_ON_GPU|defined\s*\(?\s*__CUDACC(_RTC)?__\s*\)?(\s*\|\|\s*defined\s*\(?\s*__CUDACC(_RTC)?__\s*\)?)?|__CUDACC(_RTC)?__)\s*(//.*)?$")


def includes(path: pathlib.PurePosixPath, gpu_only: bool = False) -> list[tuple[int, str, str]]:
    """(line, bracket, name) of each include; with gpu_only, without those under a condition for the host alone."""
    found = []
    taken = [True]
    for number, line in lines(path):
        directive = re.match(r"^\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)", line)
        if directive:
            word, condition = directive.groups()
            on_gpu, on_host = ON_GPU.match(condition.strip().lstrip("!")), None
            if word == "ifndef" or condition.strip().startswith("!"):
                on_gpu, on_host = None, on_gpu
            if word in ("if", "ifdef", "ifndef"):
                taken.append("gpu" if on_gpu else "host" if on_host else True)
            elif word in ("else", "elif"):
                taken[-1] = {"gpu": "host", "host": "gpu"}.get(taken[-1], True)
            else:
                taken.pop()
        match = INCLUDE.match(line)
        if match and not (gpu_only and "host" in taken):
            found.append((number, *match.groups()))
    return found


def is_host_twin(path: pathlib.PurePosixPath) -> bool:
    return "host" in path.parts


def test_includes_point_to_earlier_layers():
    faults = []
    for path in under("src", CPP):
        layer = path.parts[1]
        assert layer in LAYERS, f"{path}: src/{layer} is in no layer"
        for number, bracket, name in includes(path):
            target = name.split("/")[0]
            if bracket == "<" or target == "megakittens":
                continue
            if target not in LAYERS:
                faults.append(f'{path}:{number}: "{name}" is not named from src/')
            elif LAYERS.index(target) > LAYERS.index(layer):
                faults.append(f'{path}:{number}: {layer} includes "{name}" of the later layer {target}')
    expect_none(faults, "an include may only point to an earlier layer")


def test_public_headers_include_only_public_headers():
    faults = []
    for path in under("include", CPP):
        for number, bracket, name in includes(path):
            if bracket == '"' and not name.startswith("megakittens/"):
                faults.append(f'{path}:{number}: "{name}"')
    expect_none(faults, "what is installed must stand alone")


def test_device_code_is_a_closed_world():
    """From a .cuh, the GPU's branches reach no header of the standard library and no host-only file of ours."""
    faults = []
    for start in under("src", {".cuh"}):
        if is_host_twin(start):
            continue
        seen, open_paths = {start}, [(start,)]
        while open_paths:
            chain = open_paths.pop()
            for number, bracket, name in includes(chain[-1], gpu_only=True):
                target = pathlib.PurePosixPath("src") / name
                story = " -> ".join(str(path) for path in chain) + f":{number} -> {name}"
                if bracket == "<":
                    faults.append(f"{story}: no compiler for the GPU has this header")
                elif is_host_twin(target):
                    faults.append(f"{story}: host twins belong under the host's branch")
                elif not (ROOT / target).exists():
                    faults.append(f"{story}: there is no such file")
                elif target not in seen:
                    seen.add(target)
                    open_paths.append((*chain, target))
    expect_none(sorted(set(faults)), "device headers include device headers and plain structs")
