"""A stand-in for the CUDA driver (tests/stand_in), so that the way to a GPU is tested where there is none: memory of the
GPU is the host's, and launches run on the emulator."""

import ctypes
import os
import pathlib
import threading

import pytest

from megakittens import compat, cuda

BUILD = pathlib.Path(os.environ.get("MEGAKITTENS_TEST_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build/release"))


class StandIn:
    def __init__(self):
        self.library = ctypes.CDLL(str(BUILD / "libmk_stand_in_driver.so"), mode=ctypes.RTLD_GLOBAL)
        self.library.mk_stand_in_count.restype = ctypes.c_int64
        self.library.mk_stand_in_report.restype = ctypes.c_char_p
        self.held = {}
        self.lock = threading.RLock()
        self.unwatched_fast_call = None  # CudaEngine.fast_call without what makes emulation possible
        self.fast_calls = 0  # calls that did not go through Dynamo

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
    run, allocate, fast_call = cuda.CudaEngine.run, cuda.CudaEngine._allocate, cuda.CudaEngine.fast_call
    fresh = cuda.CudaEngine._fresh

    def allowed_run(self, tensors):
        with stand_in.lock:
            self.given = tensors
            return run(self, tensors)

    def allowed_allocate(self):
        made = allocate(self)
        stand_in.allow([*self.given, *made])
        return made

    def allowed_fresh(self):
        made = fresh(self)
        stand_in.allow([*self.given, *(tensor for tensor, _ in self.kept or []), *made])
        return made

    stand_in.unwatched_fast_call = fast_call

    def allowed_fast_call(self, arguments, sources, *rest):
        call = fast_call(self, arguments, sources, *rest)

        def allowed(*tensors):
            with stand_in.lock:  # the stand-in knows one launch's memory at a time
                self.given = [tensors[source] if isinstance(source, int) else source for source in sources]
                done = call(*tensors)
                stand_in.fast_calls += 1
                return done

        return call and allowed

    monkeypatch.setattr(cuda.CudaEngine, "run", allowed_run)
    monkeypatch.setattr(cuda.CudaEngine, "fast_call", allowed_fast_call)
    monkeypatch.setattr(cuda.CudaEngine, "_allocate", allowed_allocate)
    monkeypatch.setattr(cuda.CudaEngine, "_fresh", allowed_fresh)
    yield stand_in
    stand_in.allow([])
    for name, value in {"memory": 1 << 34, "launch_result": 0, "load_result": 0, "major": 9, "devices": 1}.items():
        stand_in.set(name, value)


