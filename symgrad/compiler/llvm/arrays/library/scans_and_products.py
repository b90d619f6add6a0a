"""Write the ops with loops of their own: scans along an axis, matrix products, and (`lu_factors.py`) matrix factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from symgrad.compiler.llvm.arrays.library.lu_factors import write_factors
from symgrad.compiler.llvm.arrays.library.matrix_products import blas_threshold, product_name
from symgrad.compiler.llvm.arrays.nests.access import Storage, first_lane, splat, storage_of
from symgrad.compiler.llvm.arrays.step_writer import BlockWriter, StepWriter
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.equations.builder import Value
from symgrad.compiler.llvm.text.instructions import Instruction
from symgrad.compiler.llvm.text.opcodes import Opcode
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType
from symgrad.compiler.lowering.arrays.index import strides
from symgrad.compiler.lowering.arrays.memory import Memory
from symgrad.compiler.lowering.arrays.tasks import backing
from symgrad.ir.graph import Node
from symgrad.ir.op import Scan
from symgrad.ir.sizes import Shape, Size, size_product
from symgrad.ops.array.factors import FACTORS

LOOP_LIMIT = 50
"""A matrix product with at most so many multiplications is a plain loop, which ends before a block of rows
would begin."""

Carried = list[str]


def carry_loop(
    fn: StepWriter, count: str, start: Sequence[tuple[str, str]], body: Callable[[str, Carried], Carried]
) -> Carried:
    """Write a loop from 0 to before a count; ``start`` has the types and initial values of its loop-carried values."""
    before, loop, out = fn.block, fn.label("each"), fn.label("after")
    some = fn.region().compare("sgt", count, "0")
    fn.branch(some, loop, out)
    fn.start(loop)
    phis = fn.reserve_lines()
    names = [f"%{loop}.{k}" for k in range(len(start))]
    new = body(f"%{loop}.i", names)
    ways = (before, fn.block)
    after = fn.put(Opcode.binary("add", "i64"), f"%{loop}.i", "1", name=f"%{loop}.next")
    more = fn.put(Opcode.compare("icmp", "slt", "i64"), after, count, name=f"%{loop}.more")
    fn.branch(more, loop, out)
    phis.append(Instruction(f"%{loop}.i", Opcode.phi("i64", ways), ("0", after)))
    for name, (kind, first), value in zip(names, start, new, strict=True):
        phis.append(Instruction(name, Opcode.phi(kind, ways), (first, value)))
    fn.start(out)
    return [
        fn.put(Opcode.phi(kind, ways), first, value, name=f"%{out}.{k}")
        for k, ((kind, first), value) in enumerate(zip(start, new, strict=True))
    ]


def repeat(fn: StepWriter, count: str, body: Callable[[str], None]) -> None:
    """Write a loop from 0 to before a count; the argument of ``body`` is the counter."""

    def once(i: str, _: Carried) -> Carried:
        body(i)
        return []

    carry_loop(fn, count, [], once)


def write_call(fn: StepWriter, node: Node, memory: Memory) -> None:
    """Write the function of one op."""
    if node.op.name in FACTORS:
        write_factors(fn, node, memory, repeat)
    elif isinstance(node.op.array.native, Scan):
        _scan(fn, node, memory, node.op.array.native)
    else:
        _product(fn, node, memory)


# along an axis


def _axis(fn: StepWriter, shape: Shape, axis: int) -> tuple[str, str, str]:
    """Return the number of rows before an axis, its length, and the number of columns after it."""
    return fn.size(size_product(shape[:axis])), fn.size(shape[axis]), fn.size(size_product(shape[axis + 1 :]))


class _AxisLine:
    """The elements of an operand and of the result along an axis, at one index of the other axes."""

    def __init__(
        self, fn: StepWriter, memory: Memory, node: Node, outer: str, inner: str, n: str, step: str
    ) -> None:
        self.fn = fn
        self.source = memory.array(backing(node.args[0]))
        self.target = memory.array(node)
        self.source_storage = storage_of(memory.arrays[self.source], fn.real)
        self.target_storage = storage_of(memory.arrays[self.target], fn.real)
        # Sums and products of integers are computed in double, like all arithmetic of integers.
        self.number = "double" if self.target_storage.kind == "int" else fn.real.llvm
        r = fn.region()
        self.start = r.add(r.mul(r.mul(outer, n), step), inner)
        self.step = step

    def _pointer(self, r: BlockWriter, k: int, storage: Storage, j: str) -> str:
        at = r.add(self.start, r.mul(j, self.step))
        return r.address(storage.element, self.fn.base(k), at)

    def load(self, r: BlockWriter, j: str, *, result: bool = False) -> str:
        k, storage = (self.target, self.target_storage) if result else (self.source, self.source_storage)
        raw = r.emit_load(Opcode.load(storage.element, storage.align), self._pointer(r, k, storage, j))
        if storage.kind == "int":
            return r.scalar(Opcode.convert("sitofp", "i64", self.number), raw)
        return raw

    def store(self, r: BlockWriter, j: str, value: str) -> None:
        storage = self.target_storage
        if storage.kind == "int":
            whole = self.fn.declarations.declare("llvm.fptosi.sat.i64.f64", "i64", "double")
            value = r.scalar(Opcode.call("i64", whole, "double"), value)
        pointer = self._pointer(r, self.target, storage, j)
        r.do(Opcode.store(storage.element, storage.align), value, pointer)


def _each_axis_line(
    fn: StepWriter, node: Node, memory: Memory, axis: int, body: Callable[[_AxisLine, str], None]
) -> None:
    rows, n, columns = _axis(fn, node.args[0].shape, axis)

    def row(o: str) -> None:
        repeat(fn, columns, lambda i: body(_AxisLine(fn, memory, node, o, i, n, columns), n))

    repeat(fn, _unless_empty(fn.region(), rows, n, columns), row)


def _unless_empty(r: BlockWriter, count: str, *lengths: str) -> str:
    """Return the length of a loop: 0 if its body would be empty."""
    for length in lengths:
        count = r.select(r.compare("ne", length, "0"), count, "0")
    return count


def _reversed(r: BlockWriter, n: str, j: str) -> str:
    return r.binary("sub", r.add(n, "-1"), j)


def _scan(fn: StepWriter, node: Node, memory: Memory, scan: Scan) -> None:
    axis, backwards = (*node.params, 0)[:2]

    def combined(at: _AxisLine, r: BlockWriter, before: str, entry: str) -> str:
        if isinstance(scan.combine, str):
            return r.binary(f"f{scan.combine}", before, entry, at.number)
        b = r.wide if at.number == "double" else r.b
        lanes = [Value(splat(r, at.number, text), False, None) for text in (before, entry)]
        return first_lane(r, at.number, scan.combine(b, *lanes).text)

    def line(at: _AxisLine, n: str) -> None:
        real = FLOAT64 if at.number == "double" else fn.real
        first = str(scan.start) if isfinite(scan.start) else real.literal(scan.start)
        start = [(at.number, first)]

        def along(j: str, carried: Carried) -> Carried:
            r = fn.region()
            place = _reversed(r, n, j) if backwards else j
            total = combined(at, r, carried[0], at.load(r, place))
            at.store(r, place, total)
            return [total]

        def before(j: str, carried: Carried) -> Carried:
            r = fn.region()
            at.store(r, j, carried[0])
            return [combined(at, r, carried[0], at.load(r, j))]

        def after(j: str, carried: Carried) -> Carried:
            r = fn.region()
            place = _reversed(r, n, j)
            at.store(r, place, combined(at, r, at.load(r, place, result=True), carried[0]))
            return [combined(at, r, carried[0], at.load(r, place))]

        for body in (before, after) if scan.others else (along,):
            carry_loop(fn, n, start, body)

    _each_axis_line(fn, node, memory, axis, line)


# products of matrices


def _classify_labels(node: Node) -> tuple[list[int], list[int], list[int], list[int]]:
    (a, b), result = node.params
    shared = set(a) & set(b)
    batch = [k for k in result if k in shared]
    summed = [k for k in a if k in shared and k not in result]
    return batch, [k for k in result if k in a and k not in shared], [k for k in result if k not in a], summed


def _matrix(
    labels: Sequence[int], shape: Shape, rows: Sequence[int], columns: Sequence[int]
) -> tuple[Size, bool]:
    """Return the leading dimension of a matrix in memory, and whether it is stored transposed."""
    steps = dict(zip(labels, strides(shape), strict=True))
    if labels[-1] in columns:
        return steps[rows[-1]], False
    return steps[columns[-1]], True


def _product(fn: StepWriter, node: Node, memory: Memory) -> None:
    (a_labels, b_labels), result = node.params
    batch, left, right, summed = _classify_labels(node)
    sizes: dict[int, Size] = {}
    for own, arg in zip((a_labels, b_labels), node.args, strict=True):
        sizes.update(zip(own, arg.shape, strict=True))
    swap = result[-1] in left  # the result is stored transposed: (x @ y).T = y.T @ x.T
    operands = [(node.args[0], a_labels), (node.args[1], b_labels)]
    if swap:
        operands.reverse()
        left, right = right, left
    (x, x_labels), (y, y_labels) = operands
    x_step, x_turned = _matrix(x_labels, x.shape, left, summed)
    y_step, y_turned = _matrix(y_labels, y.shape, summed, right)
    z_step, _ = _matrix(result, node.shape, left, right)
    m, n, k = (fn.size(size_product(sizes[j] for j in group)) for group in (left, right, summed))
    arrays = [(backing(x), x_labels, x.shape), (backing(y), y_labels, y.shape), (node, result, node.shape)]

    def one(counters: list[str]) -> None:
        r = fn.region()
        pointers: list[str] = []
        for source, labels, shape in arrays:
            steps = dict(zip(labels, strides(shape), strict=True))
            at = "0"
            for label, counter in zip(batch, counters, strict=True):
                at = r.add(at, r.mul(counter, fn.size(steps[label])))
            base = fn.base(memory.array(source))
            pointers.append(r.address(fn.real.llvm, base, at))
        steps = [fn.size(s) for s in (x_step, y_step, z_step)]
        call = Opcode.call("void", f"@{_product_name(x_turned, y_turned)}", *["ptr"] * 3, *["i64"] * 6)
        fn.put(call, *pointers, m, n, k, *steps)

    def nested(depth: int, counters: list[str]) -> None:
        if depth == len(batch):
            one(counters)
            return
        inner = [fn.size(sizes[label]) for label in batch[depth + 1 :]]
        count = _unless_empty(fn.region(), fn.size(sizes[batch[depth]]), m, n, *inner)
        repeat(fn, count, lambda i: nested(depth + 1, [*counters, i]))

    nested(*((1, ["%turn"]) if fn.turn else (0, [])))
    fn.products.add((x_turned, y_turned))


def _product_name(x_turned: bool, y_turned: bool) -> str:
    return f"product.{'t' if x_turned else 'n'}{'t' if y_turned else 'n'}"


_PRODUCT_DISPATCH = """\
define internal void @${name}(
  ptr %x, ptr %y, ptr %z, i64 %m, i64 %n, i64 %k, i64 %xs, i64 %ys, i64 %zs) #0 {
entry:
  %mn = mul i64 %m, %n
  %none = icmp eq i64 %mn, 0
  br i1 %none, label %done, label %some
some:
  %mnk = mul i64 %mn, %k
  %small = icmp sle i64 %mnk, ${small}
  %mn.bits = or i64 %m, %n
  %mnk.bits = or i64 %mn.bits, %k
  %x.bits = or i64 %mnk.bits, %xs
  %xy.bits = or i64 %x.bits, %ys
  %all.bits = or i64 %xy.bits, %zs
  %long = icmp ugt i64 %all.bits, 2147483647
  br i1 %small, label %rows, label %not.small
not.small:
  %many = icmp sgt i64 %mnk, ${largest}
  %short = xor i1 %long, true
  %blas = and i1 %many, %short
  br i1 %blas, label %big, label %moderate
moderate:
  call void @${product}(
    ptr %x, ptr %y, ptr %z, i64 %m, i64 %n, i64 %k, i64 ${xr}, i64 ${xc}, i64 ${yr}, i64 ${yc}, i64 %zs)
  br label %done
big:
  %ints = alloca [6 x i32]
  %reals = alloca [2 x ${real}]
  %letters = alloca [2 x i8]
  %m.at = getelementptr i32, ptr %ints, i64 0
  %n.at = getelementptr i32, ptr %ints, i64 1
  %k.at = getelementptr i32, ptr %ints, i64 2
  %xs.at = getelementptr i32, ptr %ints, i64 3
  %ys.at = getelementptr i32, ptr %ints, i64 4
  %zs.at = getelementptr i32, ptr %ints, i64 5
  %m.int = trunc i64 %m to i32
  %n.int = trunc i64 %n to i32
  %k.int = trunc i64 %k to i32
  %xs.int = trunc i64 %xs to i32
  %ys.int = trunc i64 %ys to i32
  %zs.int = trunc i64 %zs to i32
  store i32 %m.int, ptr %m.at
  store i32 %n.int, ptr %n.at
  store i32 %k.int, ptr %k.at
  store i32 %xs.int, ptr %xs.at
  store i32 %ys.int, ptr %ys.at
  store i32 %zs.int, ptr %zs.at
  %beta.at = getelementptr ${real}, ptr %reals, i64 1
  store ${real} 1.0, ptr %reals
  store ${real} 0.0, ptr %beta.at
  %y.letter = getelementptr i8, ptr %letters, i64 1
  store i8 ${x.letter}, ptr %letters
  store i8 ${y.letter}, ptr %y.letter
  call void ${gemm}(
    ptr %y.letter, ptr %letters, ptr %n.at, ptr %m.at, ptr %k.at, ptr %reals,
    ptr %y, ptr %ys.at, ptr %x, ptr %xs.at, ptr %beta.at, ptr %z, ptr %zs.at)
  br label %done
rows:
  %i = phi i64 [ 0, %some ], [ %i.next, %rows.next ]
  %x.row = mul i64 %i, ${xr}
  %z.row = mul i64 %i, %zs
  br label %columns
columns:
  %j = phi i64 [ 0, %rows ], [ %j.next, %columns.next ]
  %y.column = mul i64 %j, ${yc}
  %any = icmp sgt i64 %k, 0
  br i1 %any, label %terms, label %columns.next
terms:
  %l = phi i64 [ 0, %columns ], [ %l.next, %terms ]
  %sum = phi ${real} [ 0.0, %columns ], [ %sum.next, %terms ]
  %x.step = mul i64 %l, ${xc}
  %x.index = add i64 %x.row, %x.step
  %x.at = getelementptr ${real}, ptr %x, i64 %x.index
  %x.value = load ${real}, ptr %x.at
  %y.step = mul i64 %l, ${yr}
  %y.index = add i64 %y.column, %y.step
  %y.at = getelementptr ${real}, ptr %y, i64 %y.index
  %y.value = load ${real}, ptr %y.at
${step}
  %l.next = add i64 %l, 1
  %l.more = icmp slt i64 %l.next, %k
  br i1 %l.more, label %terms, label %columns.next
columns.next:
  %total = phi ${real} [ 0.0, %columns ], [ %sum.next, %terms ]
  %z.index = add i64 %z.row, %j
  %z.at = getelementptr ${real}, ptr %z, i64 %z.index
  store ${real} %total, ptr %z.at
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %n
  br i1 %j.more, label %columns, label %rows.next
rows.next:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %m
  br i1 %i.more, label %rows, label %done
done:
  ret void
}
"""


def product_dispatch_text(real: FloatType, x_turned: bool, y_turned: bool, target: Target, gemm: str) -> str:
    """Return the function of a matrix product z = x @ y; x and y are contiguous along rows, or transposed.

    Tiny products are loops here, and large ones are calls of BLAS. symgrad's own function computes products of moderate
    size, and products with lengths beyond the 32-bit integers of BLAS.

    Args:
        real: the format.
        x_turned: whether x is transposed.
        y_turned: whether y is transposed.
        target: the features of the processor.
        gemm: the symbol of the BLAS routine.
    """
    t = real.llvm
    xi, xk = ("1", "%xs") if x_turned else ("%xs", "1")
    yk, yj = ("1", "%ys") if y_turned else ("%ys", "1")
    suffix = "f64" if real.bits == 64 else "f32"
    step = (
        f"  %sum.next = call {t} @llvm.fma.{suffix}({t} %x.value, {t} %y.value, {t} %sum)"
        if target.fused
        else f"  %product = fmul {t} %x.value, %y.value\n  %sum.next = fadd {t} %sum, %product"
    )
    return fill_template(
        _PRODUCT_DISPATCH,
        {
            "name": _product_name(x_turned, y_turned),
            "real": t,
            "small": LOOP_LIMIT,
            "largest": blas_threshold(target),
            "product": product_name(real),
            "gemm": gemm,
            "xr": xi,
            "xc": xk,
            "yr": yk,
            "yc": yj,
            "x.letter": ord("T" if x_turned else "N"),
            "y.letter": ord("T" if y_turned else "N"),
            "step": step,
        },
    )
