"""Calls past Dynamo's frame hook. What Dynamo made for a function stays what decides and what runs: its guards are asked
whether this call is one of those that were captured, and its code takes the arguments apart and puts the results together.
Left out is what both are wrapped in at each call. Whatever is not understood here takes the usual way through Dynamo."""

import types
import weakref

from megakittens import _core, compat_calls, compat_guards
from megakittens.signature import Signature


class Mismatch(Exception):
    """The tensors of a call are not as they were captured. Nothing has been written or launched."""


MISSED = _core.MISSED  # what a form returns where the call is not for it

# A form has the parameters of its function. Names that begin with mk_ are ours.
SOURCE = """
        if mk_compiling():
            return mk_missed
        try:
            if (
                mk_wrapper.cache_entry is None
                or {changed}
                or not ({guards})
            ):
                return mk_missed
        except NameError:
            return mk_missed
        try:
            return mk_run({arguments})
        except mk_mismatch:
            return mk_missed
"""


# What Dynamo's guards do not look at: a function's own parts, and the hooks of a module that is called.
FUNCTION_CHANGED = "not mk_function_is(mk_function, mk_code, mk_defaults, mk_kwdefaults)"
MODULE_CHANGED = (
    "mk_module._forward_hooks or mk_module._forward_pre_hooks or mk_hooks_before or mk_hooks_behind"
    " or mk_type(mk_module).forward is not mk_forward"
    " or not mk_function_is(mk_forward, mk_code, mk_defaults, mk_kwdefaults)"
)


class FastCalls:
    """The forms of one function, the last used first. Each takes the function's arguments."""

    def __init__(self, function, module=None):
        """`function` calls nothing but `module`, where there is one."""
        self.function = function
        self.module = module
        self.forms = ()
        self.seen = weakref.WeakSet()
        self.names = []
        weakref.finalize(self, _forget, function.__globals__, self.names)

    def look(self, executables, args, kwargs):
        """The forms, with what Dynamo has compiled since the last look and without what it has dropped. `args` and `kwargs`
        are those of the last call."""
        forms = [form for form in self.forms if form.wrapper.cache_entry is not None]
        for entry in compat_calls.cache_entries(self.function.__code__):
            wrapper, code = entry.guard_manager, entry.code
            if wrapper in self.seen:
                continue
            self.seen.add(wrapper)
            name = compat_calls.compiled_name(code)
            held = getattr(self.function.__globals__.get(name), "megakittens", None)
            executable = held() if held is not None else None
            call = executable.fast_call(Mismatch) if executable in executables else None
            form = self._form(wrapper, code, call, name, args, kwargs) if call is not None else None
            if form is not None:
                forms.insert(0, form)
        self.forms = tuple(forms)
        return self.forms

    def prefer(self, form):
        """The forms with this one in front."""
        self.forms = (form, *[other for other in self.forms if other is not form])
        return self.forms

    def _form(self, wrapper, code, call, name, args, kwargs):
        """A function with the parameters of ours that returns its result, or MISSED; None where that cannot be made."""
        function = self.function
        signature = Signature(function)
        cells = signature.cells
        again = any("rand_func" in text for text in code.co_names)  # would run again after a mismatch
        if not signature.usable or not set(code.co_freevars) <= set(cells) or again:
            return None
        values = signature.values(args, kwargs)
        if not wrapper.root.check(values):
            return None  # of another call: Dynamo has compiled several since
        guards = compat_guards.split(wrapper, values)
        attributes = (compat_calls.stance(), compat_calls.no_tangents(), *guards.attributes)
        own = function if self.module is None else type(self.module).forward
        if not isinstance(own, types.FunctionType):
            return None
        ours = {
            "mk_compiling": compat_calls.is_compiling,
            "mk_wrapper": wrapper,
            "mk_function": function,
            "mk_function_is": _core.function_is,
            "mk_code": own.__code__,
            "mk_defaults": own.__defaults__,
            "mk_kwdefaults": own.__kwdefaults__,
            "mk_module": self.module,
            "mk_forward": own,
            "mk_hooks_before": compat_calls.GLOBAL_HOOKS[0],
            "mk_hooks_behind": compat_calls.GLOBAL_HOOKS[1],
            **{f"mk_module_{name}": module for module, name, _ in attributes},
            **{f"mk_value_{name}": value for _, name, value in attributes},
            "mk_undisturbed": compat_calls.undisturbed,
            "mk_same": guards.same,
            "mk_check": guards.check,
            "mk_type": type,
            "mk_len": len,
            "mk_tuple": tuple,
            "mk_list": list,
            "mk_missed": MISSED,
            "mk_mismatch": Mismatch,
            "mk_run": self._runner(code, cells, call, name),
        }
        changed = FUNCTION_CHANGED if self.module is None else MODULE_CHANGED
        text = _text_of(guards, attributes, values, signature)
        body = SOURCE.format(guards=text, arguments=signature.arguments, changed=changed)
        form = signature.function(body, ours)
        form.wrapper, form.of = wrapper, self
        return form

    def _runner(self, code, cells, call, name):
        """Dynamo's code with `call` in the place of the graph."""
        scope = self.function.__globals__
        given = {name: name.replace("__compiled_fn_", "__megakittens_call_"), compat_calls.DYNAMO_UTILS: "__megakittens_utils"}
        code = code.replace(co_names=tuple(given.get(text, text) for text in code.co_names))
        scope[given[name]] = call
        scope.setdefault("__megakittens_utils", compat_calls.QuietUtils()).provide(code.co_names)
        self.names.append(given[name])
        closure = tuple(cells[text] for text in code.co_freevars)
        run = types.FunctionType(code, scope, self.function.__name__, self.function.__defaults__, closure)
        run.__kwdefaults__ = self.function.__kwdefaults__
        return run


def _text_of(guards, attributes, values, signature):
    """The question whether the guards hold, in a form's words."""
    several = [name for name in guards.names if type(values[name]) in (tuple, list)]
    parts = [f"mk_module_{name}.{name} is mk_value_{name}" for _, name, _ in attributes]
    parts += [f"mk_type({name}) is mk_{type(values[name]).__name__}" for name in several if name != signature.star]
    if len(several) > 1:  # of one alone the number of all tensors tells
        parts += [f"mk_len({name}) == {len(values[name])}" for name in several]
    if not guards.names:
        parts.append("mk_undisturbed()")
    parts.append(f"mk_same({', '.join('*' + name if name in several else name for name in guards.names)})")
    if guards.check is not None:
        kept = ", ".join(f"{name!r}: {name}" for name in signature.locals if name in guards.kept)
        parts.append(f"mk_check({{{kept}}})")
    return " and ".join(parts)


def _forget(scope, names):
    for name in names:
        scope.pop(name, None)
