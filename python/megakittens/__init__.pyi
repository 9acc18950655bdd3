from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from megakittens import errors as errors
from megakittens._core import Graph as Graph
from megakittens._core import version as version
from megakittens.errors import CapacityError as CapacityError
from megakittens.errors import Error as Error
from megakittens.errors import ExecutionError as ExecutionError
from megakittens.errors import FormatError as FormatError
from megakittens.errors import InternalError as InternalError
from megakittens.errors import OptionError as OptionError
from megakittens.errors import UnsupportedError as UnsupportedError
from megakittens.errors import UserError as UserError
from megakittens.instruction_type import Call as Call
from megakittens.instruction_type import InstructionType as InstructionType
from megakittens.instruction_type import Operand as Operand
from megakittens.instruction_type import Plan as Plan
from megakittens.instruction_type import check_type as check_type
from megakittens.instruction_type import register as register
from megakittens.instruction_type import unregister as unregister

__version__: str

_Fn = TypeVar("_Fn", bound=Callable[..., Any])

@overload
def compile(
    fn: _Fn,
    *,
    enable: bool = True,
    verbose: bool = False,
    dry_run: bool = False,
    numerics: Literal["eager", "fused"] = "eager",
    device: Literal["emulator", "reference", "cuda"] | None = None,
    reuse_outputs: bool = False,
    **passes: bool,
) -> _Fn: ...
@overload
def compile(
    fn: None = None,
    *,
    enable: bool = True,
    verbose: bool = False,
    dry_run: bool = False,
    numerics: Literal["eager", "fused"] = "eager",
    device: Literal["emulator", "reference", "cuda"] | None = None,
    reuse_outputs: bool = False,
    **passes: bool,
) -> Callable[[_Fn], _Fn]: ...
def capture(fn: Callable[..., Any], *example_inputs: Any, **kwargs: Any) -> Graph: ...
def load(path: str) -> Graph: ...
