"""
The compiled part of megakittens; use the names that the package megakittens exports.
"""

from collections.abc import Mapping, Sequence
import os
import types
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


def version() -> str:
    """The library's version, as 'major.minor.patch'."""

class Error(RuntimeError):
    pass

class UserError(Error):
    pass

class UnsupportedError(UserError):
    pass

class FormatError(UserError):
    pass

class CapacityError(UserError):
    pass

class OptionError(UserError):
    pass

class ExecutionError(Error):
    pass

class InternalError(Error):
    pass

class Graph:
    """A captured function: values, nodes in order, and what it returns."""

    @staticmethod
    def from_fx_json(text: str) -> tuple:
        """
        From an FX graph in the form that fx.py writes: the graph, and as JSON how it maps to the call (from_fx.hpp).
        """

    @staticmethod
    def from_json(text: str) -> Graph:
        """From the text of a .mkg.json file."""

    @staticmethod
    def load(path: str | os.PathLike) -> Graph:
        """From a .mkg.json file."""

    def to_json(self) -> str:
        """The text of a .mkg.json file."""

    def save(self, path: str | os.PathLike) -> None:
        """Writes a .mkg.json file."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __eq__(self, arg: Graph, /) -> bool: ...

    def verify(self) -> None:
        """Checks every rule of the graph's specification."""

    def bind(self, values: Mapping[str, int]) -> Graph:
        """
        The graph with a size of at least 1 for each symbol: bind({'s0': 512}).
        """

    @property
    def symbols(self) -> dict[str, int]:
        """
        The symbols of its sizes, with the sample values that shapes are shown with; empty once bound.
        """

    @property
    def name(self) -> str: ...

    @property
    def inputs(self) -> list:
        """Name, dtype, sizes, strides, span, and whether the graph writes it."""

    @property
    def outputs(self) -> list:
        """
        Name, dtype, offset, sizes, strides, and the input whose storage it shows.
        """

    @property
    def nodes(self) -> list:
        """
        Name, op, source line, and for a call the target and why nothing else takes it.
        """

    def evaluate(self, storages: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]], numerics: str = 'eager') -> tuple:
        """
        The reference on the CPU: a float array of `span` elements for each input gives (outputs, inputs after).
        """

class Program:
    """A scheduled graph: instructions, counters and storages, as data."""

    @property
    def storages(self) -> list:
        """Name, kind (input, output, workspace) and bytes of each storage."""

    @property
    def inputs(self) -> list:
        """
        Where each input of the graph lies: storage, offset, sizes, strides (elements) and dtype.
        """

    @property
    def outputs(self) -> list:
        """The same for what it returns."""

    @property
    def nodes(self) -> list:
        """
        Name, op, code, first instruction, number of instructions, source line.
        """

    @property
    def summary(self) -> dict:
        """Counts that describe the schedule."""

    def save(self, path: str | os.PathLike) -> None:
        """Writes the program's file."""

    def __str__(self) -> str: ...

    def verify(self) -> None:
        """Checks by independent code that every access is ordered."""

    def run_emulator(self, memory: Mapping[int, tuple[int, int]], seed: int = 1, check: bool = False) -> None:
        """
        Runs once. `memory` gives (address, bytes) for every storage of kind input and output; check=True proves each access ordered while it runs.
        """

def schedule(graph: Graph, options: dict = {}) -> Program:
    """
    Runs the passes and schedules. Options: passes (switches by name), numerics, target, sms, cluster, queue.
    """

def pass_switches() -> dict:
    """
    The switch of each graph pass, in the order of the passes, and what the pass does.
    """

def register_type(host: object) -> None:
    """Registers an instruction type whose host half is a Python object."""

def load_plugin(path: str | os.PathLike, device: str = '') -> list[str]:
    """
    Registers the types of a plug-in and gives their names; `device`: the device half of its one type.
    """

def unregister_type(name: str) -> None:
    """Takes an instruction type away."""

def registered_types() -> list[str]:
    """Names of the users' instruction types that are registered."""

def test_type(name: str, schedules: int = 3, target: str = '') -> tuple[int, int]:
    """
    Runs the generated test on the emulator; gives the numbers of programs and launches.
    """

class CudaProgram:
    """A program on a GPU: one launch a call."""

    def __init__(self, program: Program, device: int = 0, bound: Sequence[bool] = []) -> None:
        """
        Loads it. `bound` says for each input whether its address is the same in most calls.
        """

    def launch(self, stream: int, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """
        Launches once on a stream, given the addresses of all inputs and of all storages of kind output.
        """

    def check(self) -> None:
        """
        Raises ExecutionError where an earlier launch is known to have given up.
        """

    def synchronize(self) -> None:
        """Waits for the GPU, then checks."""

    def close(self) -> None:
        """
        Waits for the GPU and gives the memory back; later launches raise UserError.
        """

    def plant_fault(self) -> None:
        """For tests: the next launch on each workspace gives up."""

    @property
    def bytes(self) -> int:
        """Device memory that the program and its workspaces hold."""

    @property
    def workspaces(self) -> int:
        """How many streams and captured graphs have one."""

def cuda_device(ordinal: int = 0) -> dict:
    """
    Name of a GPU, and the target, sms and cluster that programs for it have.
    """

def compilation_count() -> int:
    """How often NVRTC has compiled in this process."""

def fast_call(program: object, description: dict) -> object:
    """
    A function of the graph's tensors that launches once; python/megakittens/cuda.py describes the arguments.
    """

def tensor_fields(tensor: object, element_bytes: int) -> dict:
    """
    What is read of a tensor of PyTorch's, whose class is torch.Tensor or torch.nn.Parameter.
    """

def tensor_check(tensors: list, checks: list, asked: Sequence[int], state: list) -> object:
    """
    A function that says whether so many tensors are like these, and none given twice. `checks` are questions to PyTorch about one tensor each, put where fields do not tell all and for the numbers `asked`; `state` are (function, arguments, the answer that it has to give).
    """

def function_is(*args, **kwargs) -> Any:
    """
    Whether a function has this code, these defaults and these keyword defaults.
    """

MISSED: object = ...

class FormCaller:
    def __call__(self, /, *args, **kwargs):
        """Call self as a function."""

    __vectorcalloffset__: types.MemberDescriptorType = ...

def calls_forms(type: object) -> object:
    """
    Decorates a class derived from FormCaller: its objects' `_forms` answer calls, and where all return MISSED, `_call(args, kwargs)`. `_prefer(form)` is told of a form other than the first that answered.
    """
