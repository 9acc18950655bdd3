"""What the scripts share that make a page of docs from recorded results."""

import argparse
import sys


def table(columns, rows, numbers=True):
    """A table of Markdown; all columns but the first are numbers, unless told otherwise."""
    rule = "|---" + ("|--:" if numbers else "|---") * (len(columns) - 1) + "|"
    lines = ["| " + " | ".join(columns) + " |", rule]
    return "\n".join([*lines, *["| " + " | ".join(row) + " |" for row in rows]]) + "\n"


def write(description, page, text, results):
    """The script's main: writes the page or, with --check, says whether it is that of the results."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        page.write_text(text)
        return
    same = page.exists() and page.read_text() == text
    print(f"{page} {'is that of' if same else 'differs from'} {results}")
    sys.exit(not same)
