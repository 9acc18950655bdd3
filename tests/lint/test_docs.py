"""Links in the documentation lead somewhere, and what it lists is there."""

import pathlib
import re

from tree import ROOT, expect_none, files, text

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[pathlib.PurePosixPath]:
    return [path for path in files() if path.suffix == ".md"]


def prose(path: pathlib.PurePosixPath) -> str:
    """The page without code, where brackets mean something else."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", text(path), flags=re.S)


def anchors(path: pathlib.PurePosixPath) -> set[str]:
    headings = re.findall(r"^#+ +(.+?) *$", re.sub(r"```.*?```", "", text(path), flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_resolves():
    faults = []
    for page in pages():
        for link in LINK.findall(prose(page)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (ROOT / page.parent / name).resolve() if name else ROOT / page
            if not target.exists():
                faults.append(f"{page}: {link}")
            elif anchor and anchor not in anchors(pathlib.PurePosixPath(target.relative_to(ROOT))):
                faults.append(f"{page}: {link} (no such heading)")
    expect_none(faults, "dead links")


def test_every_page_is_reached_from_the_readme():
    reached, open_pages = set(), [pathlib.PurePosixPath("README.md")]
    while open_pages:
        page = open_pages.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in LINK.findall(prose(page)):
            target = (ROOT / page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_relative_to(ROOT) and target.exists():
                open_pages.append(pathlib.PurePosixPath(target.relative_to(ROOT)))
    expect_none([str(page) for page in pages() if page not in reached], "pages that no reader finds")


def test_every_dependency_is_explained():
    page = (ROOT / "docs/dev/dependencies.md").read_text()
    names = []
    for name in ("tools/apt-packages.txt", "tools/requirements.txt"):
        for line in (ROOT / name).read_text().splitlines():
            if line and not line.startswith("#"):
                names.append(line.split("==")[0])
    expect_none([name for name in names if f"`{name}`" not in page], "dependencies without a purpose in docs/dev/dependencies.md")
