"""Instruction types of one's own: docs/guides/instruction-types.md goes through an example."""

import dataclasses
import inspect
import pathlib

import torch

from megakittens import _core, fx, operations
from megakittens.errors import OptionError, UserError

DTYPES = {name: dtype for dtype, name in fx.DTYPES.items()}


@dataclasses.dataclass(frozen=True)
class Operand:
    """A tensor as a type sees it: four to eight dimensions, ones in front; strides in elements, 0 where nothing is walked."""

    dtype: str  # "bf16", "f16", "f32", "i64", "i32", "bool"
    sizes: tuple
    strides: tuple
    output: bool
    rank: int = 4  # of the call's tensor; len(sizes) where only the program is known
    bulk: bool = False  # maps() may name it; where only the program is known: whether it did

    @property
    def shape(self):
        """The call's own shape."""
        return self.sizes[len(self.sizes) - self.rank :]


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of the operation: its tensors, inputs then outputs, and its other arguments by the schema's names."""

    operands: tuple
    arguments: dict
    sms: int

    @property
    def inputs(self):
        return tuple(operand for operand in self.operands if not operand.output)

    @property
    def outputs(self):
        return tuple(operand for operand in self.operands if operand.output)


@dataclasses.dataclass
class Plan:
    """`tiles`: index words of each instruction, of which the first two are the position in dimensions 0 and 1.
    `constants`: numbers that all share. `bytes` and `operations` of the whole call are for reports. `clocks`: what the
    longest instruction may take, where that is more than milliseconds."""

    tiles: list
    constants: list = dataclasses.field(default_factory=list)
    bytes: int = 0
    operations: int = 0
    clocks: int = 0


class InstructionType:
    """An operation that the standard set lacks, as one kind of instruction.

    A subclass has the attributes `name` ("rms_norm"), `operation` (a custom operation or its name, "mylib::rms_norm") and
    `device` (the .cuh file with the device half, relative to the file of the class), and the methods plan(), touches() and
    examples(); unsuited() and reference() where their defaults do not fit. With `takes_epilogue`, pointwise operations that
    follow the call become a part of it, and its device half stores results by ops::store_result(). With `plugin`, the path of a C++ plug-in, host
    half and names come from there, and `device` is only needed where its own path does not hold.
    """

    name = None
    operation = None
    device = None
    plugin = None
    takes_epilogue = False

    def __init__(self, **parts):
        for key, value in parts.items():
            if key.startswith("_") or not hasattr(InstructionType, key):
                raise OptionError(f"an instruction type has no '{key}'")
            setattr(self, key, value)

    def unsuited(self, call):
        """None where the type takes the call, else why not."""
        return None

    def plan(self, call):
        """The Plan of a call that is not unsuited."""
        raise NotImplementedError("plan(call) is missing")

    def touches(self, operands, index):
        """[(operand, lo, hi)]: the boxes that the instruction with these index words reads and writes, half-open, with
        as many dimensions as the operand has. A function of its arguments alone."""
        raise NotImplementedError("touches(operands, index) is missing")

    def maps(self, operands):
        """[(operand, rows, columns, swizzle)]: the operands, of those that are `bulk`, that the device half moves by bulk
        tensor copies, with their boxes; swizzle is "none", "b32", "b64" or "b128". A function of its arguments alone."""
        return []

    def reference(self, call, *inputs):
        """The result, or a list of them, for inputs of the call's shapes: floating ones in float32. By default what the
        operation itself computes."""
        results = operations.operation(self.operation)(*_arguments(self.operation, call, inputs))
        return results if isinstance(results, (list, tuple)) else [results]

    def examples(self):
        """Lists of arguments, tensors on any device among them, that the operation may be called with."""
        return []

    def test(self, schedules=3, target=None):
        """The generated test, on the emulator under the checker. Gives (programs, launches); raises what is wrong."""
        return check_type(self, schedules, target)


def register(given):
    """Adds an InstructionType, as an object or a class; also a decorator. Gives the object."""
    kind = given() if inspect.isclass(given) and issubclass(given, InstructionType) else given
    if not isinstance(kind, InstructionType):
        raise UserError(f"megakittens.register takes an InstructionType, not {type(given).__name__}")
    if kind.plugin is not None:
        names = _core.load_plugin(_path(kind, kind.plugin), _path(kind, kind.device) if kind.device else "")
        if kind.name is None and len(names) == 1:
            kind.name = names[0]
        return kind
    for part in ("name", "operation", "device"):
        if getattr(kind, part) is None:
            raise UserError(f"an instruction type needs '{part}' ({type(kind).__name__} has none)")
    _core.register_type(Host(kind))
    return kind


def unregister(given):
    """Takes a type away, by the object or its name. Programs that ran already go on; others cannot be
    loaded until it is registered again."""
    _core.unregister_type(_name(given))


def check_type(given, schedules=3, target=None):
    """The generated test of a registered type, by the object or its name. `target`: "sm_90a", say, alone."""
    return _core.test_type(_name(given), schedules, target or "")


class Host:
    """What the compiled part calls: plain data there, the user's objects here."""

    def __init__(self, kind):
        self.kind = kind
        self.name = kind.name
        self.operation = operations.operation_name(kind.operation)
        self.device = _path(kind, kind.device)
        self.takes_epilogue = bool(kind.takes_epilogue)

    def unsuited(self, call):
        return self.kind.unsuited(self._call(call))

    def plan(self, call):
        plan = self.kind.plan(self._call(call))
        if not isinstance(plan, Plan):
            raise TypeError(f"plan() returns a megakittens.Plan, not {type(plan).__name__}")
        constants = [float(value) for value in plan.constants]
        return plan.tiles, constants, int(plan.bytes), int(plan.operations), int(plan.clocks)

    def touches(self, operands, index):
        return [tuple(item) for item in self.kind.touches(_operands(operands), tuple(index))]

    def maps(self, operands):
        return [tuple(item) for item in self.kind.maps(_operands(operands))]

    def reference(self, call, arrays):
        call = self._call(call)
        tensors = []
        for operand, values in zip(call.inputs, arrays, strict=True):
            dtype = DTYPES[operand.dtype]
            tensor = torch.from_numpy(values).reshape(operand.shape)
            tensors.append(tensor if dtype.is_floating_point else tensor.to(dtype))
        results = self.kind.reference(call, *tensors)
        results = results if isinstance(results, (list, tuple)) else [results]
        return [result.detach().cpu().float().contiguous().reshape(-1).numpy() for result in results]

    def examples(self):
        return [self._example(arguments) for arguments in self.kind.examples()]

    def _example(self, arguments):
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        shown = [value.to("meta") if isinstance(value, torch.Tensor) else value for value in arguments]
        results = operations.operation(self.kind.operation)(*shown)
        results = results if isinstance(results, (list, tuple)) else [results]
        others = {str(k): value for k, value in enumerate(arguments) if not isinstance(value, (torch.Tensor, type(None)))}
        return _infos("x", tensors), _infos("y", results), others

    def _call(self, call):
        operands, arguments, sms = call
        names = operations.argument_names(self.kind.operation)
        named = dict(operations.argument_defaults(self.kind.operation))
        named.update((names[int(key)] if key.isdigit() else key, value) for key, value in arguments.items())
        return Call(_operands(operands), named, sms)


def _operands(given):
    return tuple(Operand(*parts) for parts in given)


def _arguments(operation, call, inputs):
    """The operation's arguments in the schema's order: tensors as they come, others by name."""
    tensors = iter(inputs)
    arguments = []
    for name in operations.argument_names(operation):
        arguments.append(call.arguments[name] if name in call.arguments else next(tensors, None))
    return arguments


def _infos(prefix, tensors):
    return [(f"{prefix}{k}", fx.dtype_name(tensor.dtype), list(tensor.shape)) for k, tensor in enumerate(tensors)]


def _name(given):
    return getattr(given, "name", given)


def _path(kind, path):
    """Relative to the file of the class."""
    if type(kind) is InstructionType:
        return str(pathlib.Path(path).absolute())
    return str(pathlib.Path(inspect.getfile(type(kind))).resolve().parent / path)
