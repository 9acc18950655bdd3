"""report_skips.py RESULTS.xml...: counts the tests that were skipped, by reason, from JUnit files of CTest and pytest."""

import collections
import re
import sys
import xml.etree.ElementTree as ElementTree


def skip_reason(case: ElementTree.Element) -> str | None:
    """The reason if the case was skipped. CTest says only that it was; GoogleTest's text is in the captured output."""
    skipped = case.find("skipped")
    if skipped is None and case.get("status") not in ("notrun", "disabled"):
        return None
    output = case.findtext("system-out") or ""
    googletest = re.search(r": Skipped\n(.+?)\n", output)
    if googletest:
        return googletest.group(1).strip()
    message = skipped.get("message", "") if skipped is not None else ""
    return message or case.get("status") or "no reason given"


def main(paths: list[str]) -> int:
    reasons: collections.Counter[str] = collections.Counter()
    total = 0
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            total += 1
            reason = skip_reason(case)
            if reason is not None:
                reasons[reason] += 1
    print(f"[test] skipped: {reasons.total()} of {total}")
    for reason, count in reasons.most_common():
        print(f"[test]   {count} x {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
