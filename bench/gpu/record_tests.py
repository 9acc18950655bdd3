"""Writes bench/results/<gpu>-tests.json from the reports of CTest and pytest that tools/gpu/test.sh names.

    PYTHONPATH=python:bench python bench/gpu/record_tests.py build/gpu/ctest.xml build/gpu/pytest.xml
"""

import json
import sys
import xml.etree.ElementTree


def counts(path):
    """How many tests of a report in JUnit's form passed, failed, and were skipped."""
    found = {"passed": 0, "failed": 0, "skipped": 0}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        children = {child.tag for child in case}
        found["failed" if children & {"failure", "error"} else "skipped" if "skipped" in children else "passed"] += 1
    return found


def main():
    import torch
    from gpu.run import ROOT, machine, short_name

    ctest, pytest = sys.argv[1:]
    about = machine()
    record = {"machine": about, "gpus": torch.cuda.device_count(), "tests": {"CTest": counts(ctest), "pytest": counts(pytest)}}
    (ROOT / f"bench/results/{short_name(about)}-tests.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
