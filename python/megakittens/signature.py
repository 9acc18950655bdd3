"""Functions made from text with the parameters of a given one."""

import builtins
import keyword
import types

SOURCE = """
def outer():
    {captured} = None
    def inner({parameters}):
{body}
    return inner
"""


class Signature:
    """The parameters of `function` as texts. `locals` are the names that its frame has when it starts: parameters, then
    what it captures; `star` is that of further positional arguments, or None. `usable` is false where these are no plain
    names, as in a comprehension."""

    def __init__(self, function):
        code = function.__code__
        self.of = function
        self.cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        positional, keywords = code.co_argcount, code.co_kwonlyargcount
        names = list(code.co_varnames[: positional + keywords])
        rest = list(code.co_varnames[positional + keywords :])
        star = [rest.pop(0)] if code.co_flags & 0x04 else []
        double = [rest.pop(0)] if code.co_flags & 0x08 else []
        self.star = star[0] if star else None
        self.locals = [*names, *star, *double, *self.cells]
        self.usable = len(set(self.locals)) == len(self.locals) and all(
            text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("mk_") for text in self.locals
        )
        before, after = names[:positional], names[positional:]
        parameters = [*before]
        if code.co_posonlyargcount:
            parameters.insert(code.co_posonlyargcount, "/")
        parameters += [f"*{text}" for text in star] or (["*"] if after else [])
        self.parameters = ", ".join([*parameters, *after, *[f"**{text}" for text in double]])
        self.arguments = ", ".join(
            [*before, *[f"*{text}" for text in star], *[f"{text}={text}" for text in after], *[f"**{text}" for text in double]]
        )

    def function(self, body, captured):
        """A function with these parameters, their defaults, the cells of the original, and the values of `captured`."""
        text = SOURCE.format(captured=" = ".join([*captured, *self.cells, "_"]), parameters=self.parameters, body=body)
        outer = next(one for one in compile(text, "<megakittens>", "exec").co_consts if isinstance(one, types.CodeType))
        inner = next(one for one in outer.co_consts if isinstance(one, types.CodeType))
        cells = {**{name: types.CellType(value) for name, value in captured.items()}, **self.cells}
        closure = tuple(cells[name] for name in inner.co_freevars)
        made = types.FunctionType(inner, {"__builtins__": builtins}, self.of.__name__, self.of.__defaults__, closure)
        made.__kwdefaults__ = self.of.__kwdefaults__
        made.__qualname__ = self.of.__qualname__
        return made

    def values(self, args, kwargs):
        """The frame's names and values when it is called like this."""
        pairs = ", ".join(f"{text!r}: {text}" for text in self.locals)
        return self.function(f"        return {{{pairs}}}", {})(*args, **kwargs)
