"""Compiles cases with Inductor ahead of the timing, in several processes that share its caches with the one that times.

Processes claim cases by files in the folder, so that one that dies loses the case it was at and no other.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import torch
from gpu.families.case import Case

START_S = 20  # a process takes to load PyTorch; with less time than this left none is started


def environment(folder):
    """For those that compile and the one that times."""
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}


def compiled(folder, cases):
    """Names of the cases that are compiled, in any of the processes."""
    return [case.name for number, case in enumerate(cases) if (folder / f"{number}.done").exists()]


def claim(folder, number):
    try:
        os.close(os.open(folder / f"{number}.claimed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def ahead(folder, cases, workers, until, say, command=None):
    """Compiles until all are done or the time is up. A process that dies is replaced while cases are left."""
    (folder / "cases.json").write_text(json.dumps([case.to_dict() for case in cases]))
    command = command or [sys.executable, "-m", "gpu.sweeps.inductor", str(folder)]
    log = open(folder / "log", "w")
    running, started = [], 0
    most = workers + len(cases)  # each death takes a case with it
    try:
        while time.time() < until:
            running = [process for process in running if process.poll() is None]
            left = any(not (folder / f"{number}.claimed").exists() for number in range(len(cases)))
            if not left and not running:
                break
            while left and len(running) < workers and started < most and time.time() < until - START_S:
                running.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment(folder)))
                started += 1
            if not running:
                break
            time.sleep(0.2)
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()
        log.close()
    forget_choices(folder)
    found = compiled(folder, cases)
    say(f"Inductor: {len(found)} of {len(cases)} cases compiled ahead by {started} processes")
    return found


def forget_choices(folder):
    """Which form of a kernel is the fastest was measured while others ran: it is to be measured anew."""
    for path in (folder / "cache").rglob("*.best_config"):
        path.unlink()


def main():
    folder = pathlib.Path(sys.argv[1])
    cases = json.loads((folder / "cases.json").read_text())
    with torch.inference_mode():
        for number, values in enumerate(cases):
            if not claim(folder, number):
                continue
            try:
                case = Case.from_dict(values)
                torch.compile(case.function(), fullgraph=True, dynamic=False)(*case.blanks("cuda"))
                torch.cuda.synchronize()
                (folder / f"{number}.done").touch()
            except Exception as error:  # the others are compiled all the same
                print(f"{case.name}: {type(error).__name__}: {error}", flush=True)
                torch.cuda.synchronize()  # raises where the context is lost; another process takes over
            torch._dynamo.reset()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
