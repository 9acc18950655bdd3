# The two commands are `make demo` and `make test`; each prepares the machine itself. `make help` lists the rest.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
export JOBS
.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-all cubins gpu-test gpu-bench gpu-faults gpu-sanitize check-report format lint clean

help:  ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup:  ## distribution packages and .venv (demo, test and the others do it themselves)
	@tools/setup.sh

build: setup  ## the library, the command line and the Python package (preset release)
	@tools/build.sh release

demo: setup  ## capture a small model from PyTorch, schedule it, and run it on the emulator
	@tools/demo.sh

test: setup  ## every test that needs no GPU
	@tools/test.sh

test-all: setup  ## test, sanitizers, clang-tidy, wheel, long property and fuzz runs
	@tools/test_all.sh

cubins: setup  ## machine code of the interpreters into python/megakittens/cubins, for a wheel that needs no NVRTC
	@tools/cubins.sh

gpu-test:  ## the tests that need a GPU; fails without one, and installs nothing
	@tools/gpu/test.sh

gpu-bench:  ## the benchmarks against PyTorch on a GPU, into bench/results; BENCH="..." are arguments of bench/gpu/run.py
	@tools/gpu/bench.sh $(BENCH)

gpu-faults:  ## the faults of the check report in GPU builds, into bench/results and docs/concepts/gpu-faults.md
	@tools/gpu/faults.sh

gpu-sanitize:  ## gpu_tests under racecheck and memcheck of compute-sanitizer; FILTER="..." chooses tests
	@tools/gpu/sanitize.sh $(if $(FILTER),'$(FILTER)')

check-report: setup  ## plant every fault, and write docs/concepts/check-report.md
	@tools/check_report.sh

format: setup  ## clang-format over every source file
	@git ls-files '*.cpp' '*.hpp' '*.cuh' '*.cu' '*.inc' | xargs -r .venv/bin/clang-format -i

lint: setup  ## the checks on layout, includes, names and links
	@.venv/bin/python -m pytest -q tests/lint

clean:  ## remove what was built; keeps .venv
	rm -rf build dist .cache python/megakittens/_core*.so python/megakittens.egg-info
