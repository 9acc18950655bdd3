"""Progress is for people at a terminal."""

import os
import pty
import subprocess

from cli_program import PROGRAM, megakittens


def test_stages_are_shown_on_a_terminal_and_removed(graph):
    master, terminal = pty.openpty()
    done = subprocess.run([PROGRAM, "run", graph, "--sms", "4"], stdout=subprocess.PIPE, stderr=terminal, timeout=120)
    os.close(terminal)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert done.returncode == 0
    assert "emulating" in shown and "computing the reference" in shown
    assert shown.endswith("\r\x1b[K")


def test_a_pipe_gets_nothing_but_errors(graph):
    assert megakittens("run", graph, "--sms", 4).stderr == ""
