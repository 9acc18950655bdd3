"""The SM's clock and the power while something runs: by NVML, else by nvidia-smi once a second, else not at all."""

import statistics
import subprocess
import threading

import torch

try:
    import pynvml
except ImportError:
    pynvml = None


def identity():
    """How NVML names the GPU that PyTorch calls 0."""
    uuid = str(torch.cuda.get_device_properties(0).uuid)
    return uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"


class Nvml:
    def __init__(self):
        pynvml.nvmlInit()
        self.device = pynvml.nvmlDeviceGetHandleByUUID(identity())
        self.sample()

    def sample(self):
        clock = pynvml.nvmlDeviceGetClockInfo(self.device, pynvml.NVML_CLOCK_SM)
        return clock, self.milliwatts() / 1000

    def milliwatts(self):
        """At this moment where the driver knows it, else averaged over a second, which is longer than most cases take."""
        try:
            field = pynvml.nvmlDeviceGetFieldValues(self.device, [pynvml.NVML_FI_DEV_POWER_INSTANT])[0]
            if field.nvmlReturn == pynvml.NVML_SUCCESS and field.value.uiVal:
                return field.value.uiVal
        except (AttributeError, pynvml.NVMLError):
            pass
        return pynvml.nvmlDeviceGetPowerUsage(self.device)


class Smi:
    def __init__(self):
        self.last = self.ask()
        self.stopped = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def ask(self):
        query = ["nvidia-smi", f"--id={identity()}", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits"]
        printed = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        clock, power = printed.strip().split(",")
        return int(clock), float(power)

    def run(self):
        while not self.stopped.wait(1):
            try:
                self.last = self.ask()
            except (OSError, ValueError, subprocess.SubprocessError):
                self.last = None

    def sample(self):
        return self.last


def source():
    """What can be asked here, or None."""
    for kind in (Nvml, Smi):
        if kind is Nvml and pynvml is None:
            continue
        try:
            return kind()
        except Exception:  # a machine without either is measured all the same
            continue
    return None


class Watch:
    """Medians of samples, by what ran while they were taken."""

    def __init__(self, asked):
        self.asked, self.samples = asked, {}

    def __call__(self, name):
        try:
            found = self.asked.sample() if self.asked else None
        except Exception:  # likewise
            found = None
        if found is not None:
            self.samples.setdefault(name, []).append(found)

    def of(self, name):
        if name not in self.samples:
            return {"sm_mhz": None, "watts": None}
        clocks, watts = zip(*self.samples[name], strict=True)
        return {"sm_mhz": statistics.median(clocks), "watts": round(statistics.median(watts), 1)}
