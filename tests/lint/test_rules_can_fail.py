"""Each pattern of the lint tests finds what it is for, and leaves its neighbours alone."""

import pathlib

import pytest
import test_files
import test_includes
import tree


@pytest.mark.parametrize(
    "pattern, found, left",
    [
        (test_files.UNFINISHED, "// TO" "DO: later", "mkostemp(name.XX" "XXXX)"),
        (test_files.MACHINE_PATHS, "see /ho" "me/someone/notes", "docs/home/page.md, ${HOME}/home/x"),
        (test_files.PRIVATE_WORDS, "written in an earlier ses" "sion", "possession"),
        (test_files.PRINTING, 'std::pri' 'ntf("x"); printf("x")', 'std::snprintf(buffer, 4, "x"); fmt::format("x")'),
        (test_files.PRINTING, "std::cout << 1", "std::count(a, b, 1)"),
        (test_files.ASSEMBLY, 'asm volatile("nop;");', "the asm of this function"),
        (test_files.ARCHITECTURE_CONDITION, "#if __CUDA_ARCH__ >= 900", "#if MK_ON_GPU"),
    ],
)
def test_a_pattern_finds_its_fault_and_no_other(pattern, found, left):
    assert pattern.search(found)
    assert not pattern.search(left)


def test_the_hosts_branch_is_not_the_gpus(monkeypatch):
    code = (
        '#if MK_ON_GPU\n#include "a"\n#else\n#include <b>\n#endif\n'
        "#if !defined(__CUDACC_RTC__)\n#include <c>\n#endif\n"
        "#ifndef GUARD\n#include <d>\n#endif\n"
    )
    monkeypatch.setattr(tree, "text", lambda path: code)
    found = [name for _, _, name in test_includes.includes(pathlib.PurePosixPath("x.cuh"), gpu_only=True)]
    assert found == ["a", "d"]
