"""Keeps a process measuring until every case has a result or the time is up: one that dies or hangs is replaced, and costs the case it
was at."""

import collections
import json
import queue
import subprocess
import sys
import threading
import time

FIRST_S = 300  # until the first line: the interpreter may have to be compiled
CASE_S = 90  # until the next
MOST_BARREN = 2  # processes in a row that did not come to their first case
LOST_CODE = 3  # of a process whose GPU context the last case took with it: that case has its result
LOST = f"the process ended with {LOST_CODE}"


def lines_of(process, found):
    for line in process.stdout:
        found.put(line)
    found.put(None)


def measuring(command, settings, environment):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    found = queue.Queue()
    threading.Thread(target=lines_of, args=(process, found), daemon=True).start()
    try:
        json.dump(settings, process.stdin)
        process.stdin.close()
    except OSError:
        pass  # it is dead, and its output ends
    return process, found


def one_process(command, settings, environment, first_s, case_s):
    """Yields what a process says, and at the end the reason why it said no more, or None where it came to its end."""
    process, found = measuring(command, settings, environment)
    limit = min(first_s, max(0, settings["until"] - time.time()) + case_s)
    try:
        while True:
            # The case at which the time is up may finish.
            try:
                line = found.get(timeout=limit)
            except queue.Empty:
                yield f"no answer in {limit:.0f} s"
                return
            if line is None:
                code = process.wait()
                yield f"the process ended with {code}" if code else None
                return
            yield json.loads(line)
            limit = case_s
    finally:
        process.kill()
        process.wait()


def results(cases, settings, environment=None, command=None, first_s=FIRST_S, case_s=CASE_S):
    """Yields {"machine": ..} once, a result for each case that had its turn, and {"trouble": ..} where no process starts."""
    command = command or [sys.executable, "-m", "gpu.sweeps.measure"]
    left, barren, introduced = collections.deque(cases), 0, False
    while left and time.time() < settings["until"] and barren < MOST_BARREN:
        started, reason = False, None
        for said in one_process(command, {**settings, "cases": [case.to_dict() for case in left]}, environment, first_s, case_s):
            if not isinstance(said, dict):
                reason = said
            elif "machine" in said:
                started = True
                if not introduced:
                    yield said
                introduced = True
            else:
                left.popleft()
                yield said
        if reason is None:
            return  # to its end, or the time was up
        barren = 0 if started else barren + 1
        if not started:
            yield {"trouble": f"the process that measures did not start: {reason}"}
        elif left and reason != LOST:
            yield {"case": left.popleft().to_dict(), "status": "failed", "message": reason}
