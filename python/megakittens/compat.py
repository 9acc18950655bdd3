"""Everything of PyTorch that is private or changes between its versions (written for torch 2.11), for capture; the same for
calls is in compat_calls.py, compat_guards.py and compat_tensors.py."""

import contextlib
import operator
import pathlib
import re
import types
import weakref

import torch
import torch._dynamo
import torch._dynamo.config
import torch._dynamo.exc
import torch.fx
import torch.utils._pytree
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.schemas import OutputType
from torch._ops import HigherOrderOperator, OpOverload

Unsupported = torch._dynamo.exc.Unsupported
BackendFailed = torch._dynamo.exc.BackendCompilerFailed
FailedTrace = torch._dynamo.exc.TorchRuntimeError
RecompileLimit = torch._dynamo.exc.FailOnRecompileLimitHit


def optimize(backend, fn):
    """`fn` through Dynamo: a graph break is an error, and every shape is captured on its own."""
    return torch._dynamo.optimize(backend, nopython=True, dynamic=False)(fn)


def weak_backend(owner, name):
    """A backend that is the owner's method of that name. Dynamo keeps backends for ever, and with code that it compiled:
    this one does not keep its owner."""
    known = torch._dynamo.eval_frame.cached_backends  # at the process's end no longer found there
    owner = weakref.ref(owner, lambda _: known.pop(id(backend), None))

    def backend(gm, example_inputs):
        return getattr(owner(), name)(gm, example_inputs)

    return backend


def keep_device_guard():
    """Where PyTorch is built for GPUs and finds none, the first thread that traces leaves PyTorch a guard that ends with it,
    and the next thread to trace crashes (2.11). So the thread that imports this is the first."""
    if torch.version.cuda is not None and torch.cuda.device_count() == 0 and hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        torch._C._ensureCUDADeviceGuardSet()


def raise_recompile_limit():
    """Dynamo stops after a few shapes of one function; here each is a schedule of milliseconds."""
    torch._dynamo.config.recompile_limit *= 4
    torch._dynamo.config.accumulated_recompile_limit = max(
        torch._dynamo.config.accumulated_recompile_limit, 4 * torch._dynamo.config.recompile_limit
    )


def unlimited_recompiles():
    """A context in which Dynamo captures however many shapes it has seen."""
    return torch._dynamo.config.patch(recompile_limit=1 << 20, accumulated_recompile_limit=1 << 20)


@contextlib.contextmanager
def known_calls_only():
    """A context in which Dynamo compiles nothing: where it would, NotKnown is raised before anything has happened."""
    try:
        with torch.compiler.set_stance("fail_on_recompile"):
            yield
    except RuntimeError as error:
        if "'fail_on_recompile'" not in str(error):
            raise
        raise NotKnown from None


class NotKnown(Exception):
    """Of a call that was not captured before."""


def mixed_devices(error):
    """The devices of an operation that PyTorch refused because they are different ones, as text; None for other errors."""
    found = re.search(r"found two different devices ([\w:]+), ([\w:]+)", str(error))
    return f"{found[1]} and {found[2]}" if found else None


def tensors_in(value, name):
    """(name as a user would write it, tensor) of every tensor in nested lists, tuples and dicts."""
    pairs, _ = torch.utils._pytree.tree_flatten_with_path(value)
    return [(name + torch.utils._pytree.keystr(path), leaf) for path, leaf in pairs if isinstance(leaf, torch.Tensor)]


def separate(fn):
    """A function with a code object of its own: Dynamo keeps what it compiled with the code object."""
    if not isinstance(fn, types.FunctionType):
        return fn
    copy = types.FunctionType(fn.__code__.replace(), fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    return copy


def lower(gm, example_inputs, compiler):
    """Runs AOTAutograd for inference and hands `compiler` the aten graph; input mutations stay in the graph."""
    backend = aot_autograd(
        fw_compiler=compiler,
        bw_compiler=compiler,
        inference_compiler=compiler,
        decompositions={},
        keep_inference_input_mutations=True,
    )
    return backend(gm, example_inputs)


def marked(callable_, executables):
    """Says on what Dynamo gets which executable it leads to; Dynamo's own wrapper around it shows the same attribute.
    `executables` are functions that give them, for who holds one here holds it for ever."""
    inner = callable_
    while hasattr(inner, "_torchdynamo_orig_callable"):
        inner = inner._torchdynamo_orig_callable
    if len(executables) == 1:
        inner.megakittens = executables[0]
    return callable_


def real_tensors():
    """A context in which tensors have data again: a backend is called while PyTorch traces without."""
    return torch._subclasses.fake_tensor.unset_fake_temporarily()


def current_stream(index):
    """PyTorch's current stream of a GPU, as a number; without making a stream object."""
    return torch._C._cuda_getCurrentRawStream(index)


def capturing():
    """Whether the current stream records a CUDA graph."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


def device_kind(device):
    """"cpu", "cuda", or what else PyTorch has."""
    return device.type


def device_index(device):
    """The number of a tensor's GPU."""
    return torch.cuda.current_device() if device.index is None else device.index


def empty_cache():
    """Memory that PyTorch holds and nobody uses goes back to the GPU."""
    torch.cuda.empty_cache()


def has_no_memory(tensor):
    """Fake and meta tensors, which have a layout only."""
    return isinstance(tensor, torch._subclasses.FakeTensor) or tensor.is_meta


def boxed(function):
    """Marks a function that takes one list of inputs and may clear it."""
    function._boxed_call = True
    return function


def static_inputs():
    """Positions of the aten graph's placeholders that are parameters or buffers."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return set(metadata.static_input_indices) if metadata is not None else set()


def aliased_outputs():
    """Positions of the aten graph's results that AOTAutograd replaces by views of the caller's inputs."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None:
        return []
    first = metadata.num_mutated_inp_runtime_indices
    kinds = (OutputType.alias_of_input, OutputType.is_input)
    return [first + i for i, info in enumerate(metadata.output_info) if info.output_type in kinds]


def merges_inputs(example_inputs):
    """Whether AOTAutograd has made one input of several, since they share memory and are written: where each begins in it is
    then that of this call for ever, and no guard asks."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return metadata is not None and len(metadata.input_info) != len(example_inputs)


def dynamo_labels(gm):
    """The user's name of each placeholder of Dynamo's graph: "x", "self.fc1.weight", "W[0]"."""
    labels = []
    for node in gm.graph.nodes:
        if node.op != "placeholder":
            continue
        source = getattr(node.meta.get("grapharg"), "source", None)
        name = getattr(source, "name", None)
        name = name() if callable(name) else name
        labels.append(label_of(name) if name else node.name)
    return labels


def dynamo_values(gm, example_inputs):
    """What Dynamo knows of each placeholder; with symbolic sizes, where the example has the numbers of one call."""
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    return [
        node.meta.get("example_value", example) for node, example in zip(placeholders, example_inputs, strict=True)
    ]


def label_of(source):
    """Dynamo's "L['self']._modules['fc1']._parameters['weight']" as a user would write it: "self.fc1.weight"."""
    text = re.sub(r"[LG]\['(\w+)'\]", r"\1", source)
    text = re.sub(r"\.(?:_modules|_parameters|_buffers)\['([^']+)'\]", r".\1", text)
    return re.sub(r"__nested_fn_?\w*\.", "", text)


def placeholder_index(node, position):
    """Which of Dynamo's placeholders the aten placeholder at `position` is."""
    index = getattr(node.meta.get("desc"), "idx", None)
    return position if index is None else index


def example_value(node):
    """What Dynamo or AOTAutograd knows of a node's result: fake tensors, symbolic numbers, or nested lists of them."""
    value = node.meta.get("val", node.meta.get("example_value"))
    return node.meta.get("tensor_meta") if value is None else value


def has_tangent(tensor):
    """Whether a tensor is a dual one, of forward-mode differentiation."""
    forward_ad = torch.autograd.forward_ad
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None


def returned_nodes(gm):
    """The nodes whose results a graph returns."""
    (output,) = gm.graph.find_nodes(op="output")
    return output.all_input_nodes


def is_symbolic(size):
    """A size that is not one number in every call."""
    if not isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return False
    return size.node.maybe_as_int() is None if isinstance(size, torch.SymInt) else True


def target_name(node):
    """The name under which the C++ front end knows a call."""
    if node.op != "call_function":
        return str(node.target)
    target = node.target
    if isinstance(target, HigherOrderOperator):
        return f"higher_order.{target.name()}"
    if isinstance(target, OpOverload):
        return str(target)
    if target is operator.getitem:
        return "operator.getitem"
    try:
        return torch.fx.node._get_qualified_name(target)
    except (AttributeError, RuntimeError):
        return getattr(target, "__qualname__", str(target))


def module_class(gm, node):
    """Full name of the class that a call_module node calls."""
    kind = type(gm.get_submodule(node.target))
    return f"{kind.__module__}.{kind.__qualname__}"


OURS = str(pathlib.Path(__file__).parent) + "/"
FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def source_of(node):
    """ "model.py:12 in forward", from the innermost frame of the user's; else the nn.Module that made the call."""
    frames = [frame for frame in FRAME.findall(node.meta.get("stack_trace") or "") if not frame[0].startswith(OURS)]
    if frames:
        file, line, function = frames[-1]
        return f"{file.rsplit('/', 1)[-1]}:{line} in {function}"
    stack = node.meta.get("nn_module_stack")
    if stack:
        path, kind = list(stack.values())[-1]
        name = kind if isinstance(kind, str) else kind.__name__
        label = label_of(path)
        return f"module {'self' if label in ('', 'fn') else label.removeprefix('fn.')} ({name.rsplit('.', 1)[-1]})"
    return ""


DataDependent = (
    torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode,
    torch._subclasses.fake_tensor.DataDependentOutputException,
    torch._subclasses.fake_tensor.DynamicOutputShapeException,
)


def number_from_data(gm):
    """The first node of Dynamo's graph that takes a number out of a tensor, or None."""
    return next((node for node in gm.graph.nodes if node.op == "call_method" and node.target == "item"), None)


def executed_node(gm, error):
    """The node of Dynamo's graph at which running it failed, by what PyTorch adds to the message; None if it does not."""
    found = re.search(r"While executing %(\w+)", str(error))
    return next((node for node in gm.graph.nodes if found and node.name == found[1]), None)


def raised_in_function(error):
    """The exception that the traced function itself raised, as Dynamo knows it ("ValueError: rows must be 8"); None for other
    errors."""
    found = re.search(r"Developer debug context: raised exception (\w+)\((.*)\)$", str(error), re.MULTILINE)
    if found is None:
        return None
    texts = re.findall(r"ConstantVariable\(\w+: (.*?)\)(?=[,\]])", found[2])
    return f"{found[1]}: {', '.join(text.strip(chr(39) + chr(34)) for text in texts)}" if texts else found[1]


def describe_break(error):
    """Reason and place of a graph break: ("call of print", "model.py:12 in forward")."""
    reason = str(error).strip().splitlines()
    stack = getattr(error, "real_stack", None)
    place = ""
    if stack:
        frame = list(stack)[-1]
        place = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} in {frame.name}"
    details = [line.strip() for line in reason if line.strip().startswith("Explanation:")]
    first = reason[0] if reason else "unknown reason"
    if first.startswith("Data-dependent assertion failed"):
        return "an assertion does not hold for this call, or it depends on the data", place
    return (f"{first} ({details[0].removeprefix('Explanation:').strip()})" if details else first), place


def inner_error(error):
    """The exception that a backend raised, out of what Dynamo wrapped around it."""
    while isinstance(error, BackendFailed) and getattr(error, "inner_exception", None) is not None:
        error = error.inner_exception
    return error
