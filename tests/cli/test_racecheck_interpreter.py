"""build/release/racecheck_interpreter with the stand-in for NVRTC: what it leaves in its folder."""

import subprocess

from cli_program import PROGRAM

TOOL = PROGRAM.with_name("racecheck_interpreter")


def test_the_folder_holds_one_interpreter_which_is_made_once(monkeypatch, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_NVRTC", str(TOOL.with_name("libmk_stand_in_compiler.so")))
    (tmp_path / "interpreter-of-other-sources.cubin").write_text("")
    assert subprocess.run([TOOL, tmp_path], timeout=300).returncode == 0
    (made,) = tmp_path.glob("*.cubin")
    assert made.name.startswith("interpreter-sm_90a-") and "-racecheck" in made.name
    when = made.stat().st_mtime_ns
    assert subprocess.run([TOOL, tmp_path], timeout=300).returncode == 0
    assert made.stat().st_mtime_ns == when


def test_the_one_with_a_race_is_another(monkeypatch, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_NVRTC", str(TOOL.with_name("libmk_stand_in_compiler.so")))
    assert subprocess.run([TOOL, tmp_path, "race"], timeout=300).returncode == 0
    (made,) = tmp_path.glob("*.cubin")
    assert "-race" in made.name and "-racecheck" not in made.name


def test_other_words_are_refused(tmp_path):
    done = subprocess.run([TOOL, tmp_path, "races"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "usage" in done.stderr


def test_without_a_compiler_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_NVRTC", str(tmp_path / "none"))
    done = subprocess.run([TOOL, tmp_path / "folder"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "[racecheck]" in done.stderr
