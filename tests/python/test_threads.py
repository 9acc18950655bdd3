"""First calls from several threads at once."""

import os
import subprocess
import sys

# In a process of its own: what PyTorch leaves behind in the first thread that traces is part of the test.
CODE = """
import threading, torch, megakittens

wrong = []

def run(factor):
    @megakittens.compile(device="reference")
    def f(x, y):
        return torch.relu(x + y) * factor

    def work(number):
        try:
            x, y = torch.randn(8, 64 + number % 3), torch.randn(8, 64 + number % 3)
            with torch.no_grad():
                torch.testing.assert_close(f(x, y), torch.relu(x + y) * factor)
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

for factor in range(1, 4):
    run(factor)
print(wrong)
"""


def test_first_calls_from_several_threads_are_right():
    run = subprocess.run(
        [sys.executable, "-c", CODE], env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True
    )
    assert run.returncode == 0 and run.stdout.strip() == "[]", run.stdout + run.stderr
