"""The functions that compute one point: their names and signatures, and those that are compiled on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.templates import fill_template

POINT = "ufunc.point"
"""The signature of an inner loop, ``void (char **args, intp *dimensions, intp *steps, void *)``, for one element."""

NUMBERS = "point.numbers"
"""``void (in..., out *...)``, with inputs as numbers."""

INTEGRAND = "point.integrand"
"""``double (int n, double *x, void *)``: returns the first output, or NaN if n is not the number of inputs."""

FILTER = "point.filter"
"""``int (double *x, intptr_t n, double *out, void *)``: returns 1, or 0 if n is not the number of inputs."""

_TYPES = {"float64": "double", "float32": "float", "bool": "i8"}


class PointFunctions:
    """The functions that compute one point of a kernel. Their code stays in memory as long as this object lives.

    Args:
        known: the addresses of functions that exist, `POINT` at least; all others call this one.
        kinds: the name of the dtype of every argument, inputs then outputs.
        nin: the number of inputs.
        code: the owner of the functions that exist.
    """

    __slots__ = ("__weakref__", "_code", "_known", "kinds", "nin")

    def __init__(self, known: Mapping[str, int], kinds: Sequence[str], nin: int, code: object) -> None:
        self._known = dict(known)
        self._code = [code]
        self.kinds = tuple(kinds)
        self.nin = nin

    def address(self, name: str) -> int:
        """Return the address of a function, which is compiled on first use. SciPy's are for doubles only."""
        if name not in self._known:
            from symgrad.compiler.llvm.engine.jit import Engine  # a loaded kernel may never need it

            engine = Engine(self._text(name))
            self._code.append(engine)
            self._known[name] = engine.address(name)
        return self._known[name]

    def _text(self, name: str) -> str:
        point = f"inttoptr (i64 {self._known[POINT]} to ptr)"
        count = len(self.kinds)
        if name == NUMBERS:
            return _numbers([_TYPES[kind] for kind in self.kinds], self.nin, point)
        parts = {"nin": self.nin, "nargs": count, "nout": count - self.nin, "point": point}
        return fill_template(_FOR_SCIPY, parts) + ATTRIBUTES


def _numbers(types: Sequence[str], nin: int, point: str) -> str:
    ins, every = range(nin), range(len(types))
    given = [*(f"{types[k]} %x{k}" for k in ins), *(f"ptr %a{k}" for k in every[nin:])]
    lines = [f"define void @{NUMBERS}({', '.join(given)}) #0 {{"]
    for k in ins:
        lines += [f"  %a{k} = alloca {types[k]}", f"  store {types[k]} %x{k}, ptr %a{k}"]
    lines += [
        f"  %args = alloca [{len(types)} x ptr]",
        f"  %steps = alloca [{len(types)} x i64]",
        "  %one = alloca i64",
        "  store i64 1, ptr %one",
    ]
    for k in every:
        lines += [f"  %p{k} = getelementptr ptr, ptr %args, i64 {k}", f"  store ptr %a{k}, ptr %p{k}"]
        lines += [f"  %s{k} = getelementptr i64, ptr %steps, i64 {k}", f"  store i64 0, ptr %s{k}"]
    lines += [
        f"  call void {point}(ptr %args, ptr %one, ptr %steps, ptr null)",
        "  ret void",
        "}",
        ATTRIBUTES,
    ]
    return "\n".join(lines)


_FOR_SCIPY = """\
define double @point.integrand(i32 %n, ptr %x, ptr %data) #0 {
  %y.at = alloca double
  %all = icmp eq i32 %n, ${nin}
  br i1 %all, label %compute, label %refuse
compute:
  call void @point.of.table(ptr %x, ptr %y.at)
  %y = load double, ptr %y.at
  ret double %y
refuse:
  ret double 0x7FF8000000000000
}

define i32 @point.filter(ptr %x, i64 %n, ptr %y, ptr %data) #0 {
  %all = icmp eq i64 %n, ${nin}
  br i1 %all, label %compute, label %refuse
compute:
  call void @point.of.table(ptr %x, ptr %y)
  ret i32 1
refuse:
  ret i32 0
}

define internal void @point.of.table(ptr %x, ptr %y) #0 {
entry:
  %unused = alloca [${nout} x double]
  %args = alloca [${nargs} x ptr]
  %steps = alloca [${nargs} x i64]
  %one = alloca i64
  store i64 1, ptr %one
  br label %argument
argument:
  %k = phi i64 [ 0, %entry ], [ %k.next, %argument ]
  %x.at = getelementptr double, ptr %x, i64 %k
  %output = sub i64 %k, ${nin}
  %y.at = getelementptr double, ptr %unused, i64 %output
  %first = icmp eq i64 %output, 0
  %place.out = select i1 %first, ptr %y, ptr %y.at
  %input = icmp slt i64 %output, 0
  %place = select i1 %input, ptr %x.at, ptr %place.out
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  store ptr %place, ptr %arg.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  store i64 0, ptr %step.at
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, ${nargs}
  br i1 %more, label %argument, label %compute
compute:
  call void ${point}(ptr %args, ptr %one, ptr %steps, ptr null)
  ret void
}
"""
