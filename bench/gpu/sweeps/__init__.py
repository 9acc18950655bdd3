"""The parts of sweep.py: compiling ahead, measuring in a process of its own, judging and reporting."""
