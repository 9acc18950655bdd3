"""Makes the package importable from the source tree: metadata beside it, and a path file in .venv.

The build puts the extension into python/megakittens, so that `python/` on the path is a complete package. The metadata
carries the entry point by which torch.compile finds the backend. A `.venv` that is a link belongs to several trees and
gets no path file, nor does another Python; there PYTHONPATH=python does the same.
"""

import pathlib
import sysconfig
import tomllib

root = pathlib.Path(__file__).resolve().parent.parent
project = tomllib.loads((root / "pyproject.toml").read_text())["project"]


def write_if_changed(path: pathlib.Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"[build] wrote {path.relative_to(root) if path.is_relative_to(root) else path}")


info = root / "python" / "megakittens.egg-info"
write_if_changed(
    info / "PKG-INFO", f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
)
groups = []
for group, entries in project.get("entry-points", {}).items():
    groups += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()), ""]
write_if_changed(info / "entry_points.txt", "\n".join(groups))
if (root / ".venv").is_dir() and not (root / ".venv").is_symlink():
    write_if_changed(pathlib.Path(sysconfig.get_path("purelib")) / "megakittens.pth", f"{root / 'python'}\n")
