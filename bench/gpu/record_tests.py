"""Writes bench/results/<gpu>-tests.json from the reports of CTest and pytest that tools/gpu/test.sh names, and from what pytest
printed.

    PYTHONPATH=python:bench python bench/gpu/record_tests.py build/gpu/ctest.xml build/gpu/pytest.xml build/gpu/pytest.log
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree


def counts(path):
    """How many tests of a report in JUnit's form passed, failed, and were skipped."""
    found = {"passed": 0, "failed": 0, "skipped": 0}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        children = {child.tag for child in case}
        found["failed" if children & {"failure", "error"} else "skipped" if "skipped" in children else "passed"] += 1
    return found


def told(log):
    """What tests say that they measured: lines as `[ready] 3 layers: ...`."""
    return re.findall(r"^\[[a-z]+\] (.+)$", pathlib.Path(log).read_text(), re.MULTILINE)


def main():
    import torch
    from gpu.run import ROOT, machine, short_name

    ctest, pytest, log = sys.argv[1:]
    about = machine()
    tests = {"CTest": counts(ctest), "pytest": counts(pytest)}
    record = {"machine": about, "gpus": torch.cuda.device_count(), "tests": tests, "told": told(log)}
    (ROOT / f"bench/results/{short_name(about)}-tests.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
