"""LU and Cholesky factors by LAPACK: the ops of `ops/array/factors.py`, one matrix of a stack after the other.

LAPACK stores matrices by columns, so it sees the transpose of every matrix: it factors A.T. It reads the right sides
from the rows of an array, and overwrites them with the solutions. The pivot indices, 32-bit integers, are stored in the
last row of the array of factors, which is long enough in either format.
"""

from __future__ import annotations

from collections.abc import Callable

from symgrad.compiler.llvm.arrays.library.matrix_exponential import exponential_text
from symgrad.compiler.llvm.arrays.step_writer import StepWriter
from symgrad.compiler.llvm.engine import blas
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.tasks import backing
from symgrad.ir.graph import Node
from symgrad.ir.sizes import size_product

_MAX_RIGHT_SIDES, _SINGLE_THREAD_WORK = 65536, 1_000_000
"""The first is the maximum number of right sides in one call, because LAPACK counts in 32 bits. If the work is below
the second, each call has one right side: with several, LAPACK wakes its threads even for small matrices."""


def write_factors(
    fn: StepWriter, node: Node, memory: Memory, loop: Callable[[StepWriter, str, Callable[[str], None]], None]
) -> None:
    """Write a loop that calls the function of an op for every matrix of a stack.

    Args:
        fn: the function to write to.
        node: the op.
        memory: the memory plan.
        loop: a function that writes a loop. Its arguments are the function, the count, and the body, whose argument is
            the counter.
    """
    name = node.op.name
    arrays = [*node.args, node]
    own = [1 if a.op.name == "pivots" else 2 for a in arrays]
    n = fn.size(node.shape[-1])
    numbers = [n]
    if name in ("lu_solve", "triangular_solve"):
        numbers += [fn.size(node.shape[-2]), str(ord("N" if node.params[0] else "T"))]
    count = fn.size(size_product(node.shape[: len(node.shape) - own[-1]]))
    count = fn.entry.select(fn.entry.compare("ne", n, "0"), count, "0")

    def one(i: str) -> None:
        r = fn.region()
        places: list[str] = []
        for a, axes in zip(arrays, own, strict=True):
            step = fn.size(size_product(a.shape[len(a.shape) - axes :]))
            base = fn.base(memory.array(backing(a)))
            places.append(r.address(fn.real.llvm, base, r.mul(i, step)))
        kinds = [*["ptr"] * len(places), *["i64"] * len(numbers)]
        fn.put(Opcode.call("void", f"@factors.{name}", *kinds), *places, *numbers)

    loop(fn, count, one)
    fn.factors.add(name)
    if name == "exponential":
        fn.products.add((False, False))


def factor_text(real: FloatType, name: str, declarations: Declarations, *, standalone: bool) -> str:
    """Return the function of an op for one matrix.

    Args:
        real: the format.
        name: the name of the op.
        declarations: the declarations of the module, for routines of LAPACK.
        standalone: whether the code will be linked with a LAPACK.
    """

    def routine(called: str, count: int) -> str:
        return declarations.declare(
            blas.lapack(called, real, standalone=standalone), "void", *["ptr"] * count
        )

    if name == "lu":
        return fill_template(_LU, {"t": real.llvm, "getrf": routine("getrf", 6)})
    if name == "pivots":
        return fill_template(_PIVOTS, {"t": real.llvm})
    if name == "exponential":
        return exponential_text(real, "product.nn")
    if name == "cholesky_factor":
        return fill_template(_CHOLESKY, {"t": real.llvm, "potrf": routine("potrf", 5)})
    solver, arguments = _SOLVERS[name]
    parts = {
        "t": real.llvm,
        "name": name,
        "solver": routine(solver, arguments.count("ptr")),
        "arguments": arguments,
        "many": _MAX_RIGHT_SIDES,
        "small": _SINGLE_THREAD_WORK,
    }
    return fill_template(_SOLVE, parts)


_SOLVERS = {
    "lu_solve": (
        "getrs",
        "ptr %letter, ptr %ints, ptr %k.at, ptr %lu, ptr %ints, ptr %exchanges, ptr %j.at, ptr %ints, ptr %info",
    ),
    # The rows of a lower triangle are the columns of an upper one.
    "triangular_solve": (
        "trtrs",
        "ptr %upper, ptr %letter, ptr %any, ptr %ints, ptr %k.at, ptr %lu, ptr %ints, ptr %j.at, ptr %ints, ptr %info",
    ),
}
"""For each op that solves, the routine and its arguments."""


_LU = """\
define internal void @factors.lu(ptr %x, ptr %lu, i64 %n) #0 {
entry:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %some
some:
  %ints = alloca [2 x i32]
  %n.int = trunc i64 %n to i32
  store i32 %n.int, ptr %ints
  %info = getelementptr i32, ptr %ints, i64 1
  %count = mul i64 %n, %n
  br label %copy
copy:
  %i = phi i64 [ 0, %some ], [ %i.next, %copy ]
  %x.at = getelementptr ${t}, ptr %x, i64 %i
  %lu.at = getelementptr ${t}, ptr %lu, i64 %i
  %value = load ${t}, ptr %x.at
  store ${t} %value, ptr %lu.at
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %copy, label %factor
factor:
  %exchanges = getelementptr ${t}, ptr %lu, i64 %count
  call void ${getrf}(ptr %ints, ptr %ints, ptr %lu, ptr %ints, ptr %exchanges, ptr %info)
  br label %done
done:
  ret void
}
"""

_PIVOTS = """\
define internal void @factors.pivots(ptr %lu, ptr %out, i64 %n) #0 {
entry:
  %count = mul i64 %n, %n
  %exchanges = getelementptr ${t}, ptr %lu, i64 %count
  %below = add i64 %n, 1
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %each
each:
  %i = phi i64 [ 0, %entry ], [ %i.next, %each ]
  %at = mul i64 %i, %below
  %lu.at = getelementptr ${t}, ptr %lu, i64 %at
  %value = load ${t}, ptr %lu.at
  %turned = fneg ${t} %value
  %exchange.at = getelementptr i32, ptr %exchanges, i64 %i
  %exchange = load i32, ptr %exchange.at
  %row = sext i32 %exchange to i64
  %i.next = add i64 %i, 1
  %stays = icmp eq i64 %row, %i.next
  %signed = select i1 %stays, ${t} %value, ${t} %turned
  %out.at = getelementptr ${t}, ptr %out, i64 %i
  store ${t} %signed, ptr %out.at
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %each, label %done
done:
  ret void
}
"""

_SOLVE = """\
define internal void @factors.${name}(ptr %lu, ptr %rows, ptr %out, i64 %n, i64 %k, i64 %way) #0 {
entry:
  %total = mul i64 %n, %k
  %none = icmp eq i64 %total, 0
  br i1 %none, label %done, label %some
some:
  %ints = alloca [3 x i32]
  %letter = alloca [3 x i8]
  %way.letter = trunc i64 %way to i8
  store i8 %way.letter, ptr %letter
  %upper = getelementptr i8, ptr %letter, i64 1
  store i8 85, ptr %upper
  %any = getelementptr i8, ptr %letter, i64 2
  store i8 78, ptr %any
  %n.int = trunc i64 %n to i32
  store i32 %n.int, ptr %ints
  %k.at = getelementptr i32, ptr %ints, i64 1
  %info = getelementptr i32, ptr %ints, i64 2
  %count = mul i64 %n, %n
  %exchanges = getelementptr ${t}, ptr %lu, i64 %count
  %below = add i64 %n, 1
  br label %pivot
pivot:
  %p = phi i64 [ 0, %some ], [ %p.next, %pivot ]
  %singular = phi i1 [ false, %some ], [ %singular.next, %pivot ]
  %p.index = mul i64 %p, %below
  %p.at = getelementptr ${t}, ptr %lu, i64 %p.index
  %p.value = load ${t}, ptr %p.at
  %zero = fcmp oeq ${t} %p.value, 0.0
  %singular.next = or i1 %singular, %zero
  %p.next = add i64 %p, 1
  %p.more = icmp slt i64 %p.next, %n
  br i1 %p.more, label %pivot, label %copy
copy:
  %i = phi i64 [ 0, %pivot ], [ %i.next, %copy ]
  %row.at = getelementptr ${t}, ptr %rows, i64 %i
  %out.at = getelementptr ${t}, ptr %out, i64 %i
  %value = load ${t}, ptr %row.at
  %kept = select i1 %singular.next, ${t} 0x7FF8000000000000, ${t} %value
  store ${t} %kept, ptr %out.at
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %total
  br i1 %more, label %copy, label %copied
copied:
  %work = mul i64 %n, %total
  %small = icmp slt i64 %work, ${small}
  %most = select i1 %small, i64 1, i64 ${many}
  br i1 %singular.next, label %done, label %part
part:
  %j = phi i64 [ 0, %copied ], [ %j.next, %part ]
  %left = sub i64 %k, %j
  %few = icmp slt i64 %left, %most
  %here = select i1 %few, i64 %left, i64 %most
  %here.int = trunc i64 %here to i32
  store i32 %here.int, ptr %k.at
  %j.index = mul i64 %j, %n
  %j.at = getelementptr ${t}, ptr %out, i64 %j.index
  call void ${solver}(${arguments})
  %j.next = add i64 %j, %most
  %j.more = icmp slt i64 %j.next, %k
  br i1 %j.more, label %part, label %done
done:
  ret void
}
"""

_CHOLESKY = """\
define internal void @factors.cholesky_factor(ptr %x, ptr %out, i64 %n) #0 {
entry:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %some
some:
  %ints = alloca [2 x i32]
  %letter = alloca i8
  store i8 85, ptr %letter
  %n.int = trunc i64 %n to i32
  store i32 %n.int, ptr %ints
  %info = getelementptr i32, ptr %ints, i64 1
  store i32 0, ptr %info
  %count = mul i64 %n, %n
  %below = add i64 %n, 1
  br label %row
row:
  %r = phi i64 [ 0, %some ], [ %r.next, %row.end ]
  %start = mul i64 %r, %n
  br label %copy
copy:
  %c = phi i64 [ 0, %row ], [ %c.next, %copy ]
  %i = add i64 %start, %c
  %x.at = getelementptr ${t}, ptr %x, i64 %i
  %out.at = getelementptr ${t}, ptr %out, i64 %i
  %value = load ${t}, ptr %x.at
  %inside = icmp sle i64 %c, %r
  %kept = select i1 %inside, ${t} %value, ${t} 0.0
  store ${t} %kept, ptr %out.at
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %n
  br i1 %c.more, label %copy, label %row.end
row.end:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %n
  br i1 %r.more, label %row, label %factor
factor:
  call void ${potrf}(ptr %letter, ptr %ints, ptr %out, ptr %ints, ptr %info)
  %code = load i32, ptr %info
  %found = icmp eq i32 %code, 0
  br label %pivot
pivot:
  %p = phi i64 [ 0, %factor ], [ %p.next, %pivot ]
  %definite = phi i1 [ %found, %factor ], [ %definite.next, %pivot ]
  %p.index = mul i64 %p, %below
  %p.at = getelementptr ${t}, ptr %out, i64 %p.index
  %p.value = load ${t}, ptr %p.at
  %positive = fcmp ogt ${t} %p.value, 0.0
  %definite.next = and i1 %definite, %positive
  %p.next = add i64 %p, 1
  %p.more = icmp slt i64 %p.next, %n
  br i1 %p.more, label %pivot, label %checked
checked:
  br i1 %definite.next, label %done, label %fill
fill:
  %f = phi i64 [ 0, %checked ], [ %f.next, %fill ]
  %f.at = getelementptr ${t}, ptr %out, i64 %f
  store ${t} 0x7FF8000000000000, ptr %f.at
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %count
  br i1 %f.more, label %fill, label %done
done:
  ret void
}
"""
