"""A stand-in for the CUDA driver (tests/stand_in), so that the way to a GPU is tested where there is none: memory of the
GPU is the host's, and launches run on the emulator."""

import ctypes
import os
import pathlib

import pytest

from megakittens import compat, cuda

BUILD = pathlib.Path(os.environ.get("MEGAKITTENS_TEST_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build/release"))


class StandIn:
    def __init__(self):
        self.library = ctypes.CDLL(str(BUILD / "libmk_stand_in_driver.so"), mode=ctypes.RTLD_GLOBAL)
        self.library.mk_stand_in_count.restype = ctypes.c_int64
        self.library.mk_stand_in_report.restype = ctypes.c_char_p
        self.held = {}

    def set(self, name, value):
        self.library.mk_stand_in_set(name.encode(), ctypes.c_int64(value))

    def count(self, name):
        return self.library.mk_stand_in_count(name.encode())

    def report(self):
        return self.library.mk_stand_in_report().decode()

    def allow(self, tensors):
        """Kernels may touch these tensors' memory, whole, and no longer what was allowed before."""
        for address in self.held:
            self.library.mk_stand_in_memory(ctypes.c_void_p(address), ctypes.c_size_t(0))
        self.held = {}
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if storage.nbytes():
                self.held[storage.data_ptr()] = storage.nbytes()
        for address, size in self.held.items():
            self.library.mk_stand_in_memory(ctypes.c_void_p(address), ctypes.c_size_t(size))


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """Tensors on the CPU count as tensors on GPU 0."""
    if not (BUILD / "libmk_stand_in_driver.so").exists():
        pytest.skip("the stand-in for the driver is not built")
    monkeypatch.setenv("MEGAKITTENS_CUDA_DRIVER", str(BUILD / "libmk_stand_in_driver.so"))
    monkeypatch.setenv("MEGAKITTENS_NVRTC", str(BUILD / "libmk_stand_in_compiler.so"))
    monkeypatch.setenv("MEGAKITTENS_CACHE_DIR", str(tmp_path))
    stand_in = StandIn()
    stand_in.set("emulate", 1)
    stand_in.set("sms", 132)
    monkeypatch.setattr(compat, "device_kind", lambda device: "cuda")
    monkeypatch.setattr(compat, "device_index", lambda device: 0)
    monkeypatch.setattr(compat, "current_stream", lambda index: 0)
    monkeypatch.setattr(compat, "capturing", lambda: False)
    run, allocate = cuda.CudaEngine.run, cuda.CudaEngine._allocate

    def allowed_run(self, tensors):
        self.given = tensors
        return run(self, tensors)

    def allowed_allocate(self):
        made = allocate(self)
        stand_in.allow([*self.given, *made])
        return made

    monkeypatch.setattr(cuda.CudaEngine, "run", allowed_run)
    monkeypatch.setattr(cuda.CudaEngine, "_allocate", allowed_allocate)
    yield stand_in
    stand_in.allow([])
    for name, value in {"memory": 1 << 34, "launch_result": 0, "load_result": 0, "major": 9, "devices": 1}.items():
        stand_in.set(name, value)


