"""Products of small matrices as dot products of rows: z[i, j] = sum over l of x[i, l]*y[j, l], with lanes along l.

A block of rows of x times as many rows of y stays in registers: one vector for each entry of z, whose lanes are added
at the end. If a block extends beyond the last row, it computes the last row again, and stores the same numbers.
"""

from __future__ import annotations

from symgrad.compiler.llvm.text.module import Function
from symgrad.compiler.llvm.text.types import FloatType

DOTS = "dots"
"""The name of the function, ``void (x, y, z, m, n, k, x_row, y_row, z_row)``; strides of rows are in elements."""

_PARAMETERS = (*("ptr %x", "ptr %y", "ptr %z"), *(f"i64 %{n}" for n in ("m", "n", "k", "xs", "ys", "zs")))

_CHUNK = 256
"""The number of vectors in a partial sum, which is then added to the total."""


def dots_function(real: FloatType, w: int, rows: int, *, fused: bool) -> Function:
    """Return the function.

    Args:
        real: the format.
        w: lanes of a vector.
        rows: the number of rows of a block.
        fused: whether the target has a fused multiply-add instruction.
    """
    t, v, size = real.llvm, f"<{w} x {real.llvm}>", real.itemsize
    suffix, mask = f"v{w}f{real.bits}", f"<{w} x i1>"
    cells = [(r, c) for r in range(rows) for c in range(rows)]

    def places(letter: str, first: str, count: str, step: str) -> list[str]:
        """Return the lines that compute the addresses of the rows of a block."""
        lines: list[str] = []
        for r in range(rows):
            a = f"%{letter}{r}"
            lines += [
                f"  {a}.up = add i64 {first}, {r}",
                f"  {a}.less = icmp slt i64 {a}.up, {count}",
                f"  {a}.i = select i1 {a}.less, i64 {a}.up, i64 {count}.last",
                f"  {a}.at = mul i64 {a}.i, {step}",
                f"  {a} = getelementptr {t}, ptr %{letter}, i64 {a}.at",
            ]
        return lines

    def terms(name: str, old: str, *, masked: bool) -> list[str]:
        """Return the lines that load one vector of each row, and add the products."""
        lines: list[str] = []
        for letter in "xy":
            for r in range(rows):
                a = f"%{name}.{letter}{r}"
                lines.append(f"  {a}.p = getelementptr {t}, ptr %{letter}{r}, i64 %{name}.l")
                if masked:
                    lines.append(
                        f"  {a} = call {v} @llvm.masked.load.{suffix}.p0("
                        f"ptr align {size} {a}.p, {mask} %mask, {v} zeroinitializer)"
                    )
                else:
                    lines.append(f"  {a} = load {v}, ptr {a}.p, align {size}")
        for r, c in cells:
            x, y, s, new = f"%{name}.x{r}", f"%{name}.y{c}", f"%{old}{r}.{c}", f"%{name}{r}.{c}"
            if fused:
                lines.append(f"  {new} = call {v} @llvm.fma.{suffix}({v} {x}, {v} {y}, {v} {s})")
            else:
                lines += [f"  {new}.p = fmul {v} {x}, {y}", f"  {new} = fadd {v} {s}, {new}.p"]
        return lines

    def phis(name: str, ways: list[tuple[str, str]]) -> list[str]:
        return [
            f"  %{name}{r}.{c} = phi {v} "
            + ", ".join(
                f"[ {(old and f'%{old}{r}.{c}') or 'zeroinitializer'}, %{block} ]" for old, block in ways
            )
            for r, c in cells
        ]

    lines = [
        "entry:",
        f"  %totals = alloca [{rows * rows} x {v}], align 64",
        "  %m.last = sub i64 %m, 1",
        "  %n.last = sub i64 %n, 1",
        f"  %whole = and i64 %k, -{w}",
        "  %left = sub i64 %k, %whole",
        f"  %left.one = insertelement <{w} x i64> poison, i64 %left, i64 0",
        f"  %left.all = shufflevector <{w} x i64> %left.one, <{w} x i64> poison, <{w} x i32> zeroinitializer",
        f"  %mask = icmp ult <{w} x i64> <{', '.join(f'i64 {i}' for i in range(w))}>, %left.all",
        "  br label %rows",
        "rows:",
        "  %i = phi i64 [ 0, %entry ], [ %i.next, %rows.next ]",
        *places("x", "%i", "%m", "%xs"),
        "  br label %columns",
        "columns:",
        "  %j = phi i64 [ 0, %rows ], [ %j.next, %columns.next ]",
        *places("y", "%j", "%n", "%ys"),
        *(
            line
            for r, c in cells
            for line in (
                f"  %t{r}.{c}.at = getelementptr {v}, ptr %totals, i64 {r * rows + c}",
                f"  store {v} zeroinitializer, ptr %t{r}.{c}.at",
            )
        ),
        "  %any = icmp sgt i64 %whole, 0",
        "  br i1 %any, label %chunks, label %last",
        "chunks:",
        "  %b = phi i64 [ 0, %columns ], [ %stop, %chunk.end ]",
        f"  %far = add i64 %b, {_CHUNK * w}",
        "  %near = icmp slt i64 %far, %whole",
        "  %stop = select i1 %near, i64 %far, i64 %whole",
        "  br label %terms",
        "terms:",
        "  %new.l = phi i64 [ %b, %chunks ], [ %l.next, %terms ]",
        *phis("s", [("", "chunks"), ("new", "terms")]),
        *terms("new", "s", masked=False),
        f"  %l.next = add i64 %new.l, {w}",
        "  %more = icmp slt i64 %l.next, %stop",
        "  br i1 %more, label %terms, label %chunk.end",
        "chunk.end:",
    ]
    for r, c in cells:
        lines += [
            f"  %o{r}.{c} = load {v}, ptr %t{r}.{c}.at",
            f"  %u{r}.{c} = fadd {v} %o{r}.{c}, %new{r}.{c}",
            f"  store {v} %u{r}.{c}, ptr %t{r}.{c}.at",
        ]
    lines += [
        "  br i1 %near, label %chunks, label %last",
        "last:",
        *(f"  %sum{r}.{c} = load {v}, ptr %t{r}.{c}.at" for r, c in cells),
        "  %some = icmp sgt i64 %left, 0",
        "  br i1 %some, label %rest, label %end",
        "rest:",
        "  %tail.l = add i64 %whole, 0",
        *terms("tail", "sum", masked=True),
        *(f"  store {v} %tail{r}.{c}, ptr %t{r}.{c}.at" for r, c in cells),
        "  br label %end",
        "end:",
        "  %r = phi i64 [ 0, %last ], [ 0, %rest ], [ %r.next, %end ]",
        "  %r.up = add i64 %i, %r",
        "  %r.less = icmp slt i64 %r.up, %m",
        "  %r.i = select i1 %r.less, i64 %r.up, i64 %m.last",
        "  %z.row = mul i64 %r.i, %zs",
        f"  %r.first = mul i64 %r, {rows}",
    ]
    for c in range(rows):
        lines += [
            f"  %q{c} = add i64 %r.first, {c}",
            f"  %q{c}.at = getelementptr {v}, ptr %totals, i64 %q{c}",
            f"  %a{c} = load {v}, ptr %q{c}.at",
        ]
        value, step = f"%a{c}", w // 2
        while step:
            order = ", ".join(f"i32 {k + step if k < step else k}" for k in range(w))
            lines.append(f"  %m{c}.{step} = shufflevector {v} {value}, {v} poison, <{w} x i32> <{order}>")
            lines.append(f"  %h{c}.{step} = fadd {v} {value}, %m{c}.{step}")
            value, step = f"%h{c}.{step}", step // 2
        lines += [
            f"  %z{c}.at = add i64 %z.row, %y{c}.i",
            f"  %z{c} = getelementptr {t}, ptr %z, i64 %z{c}.at",
            f"  %e{c} = extractelement {v} {value}, i64 0",
            f"  store {t} %e{c}, ptr %z{c}, align {size}",
        ]
    lines += [
        "  %r.next = add i64 %r, 1",
        f"  %r.more = icmp slt i64 %r.next, {rows}",
        "  br i1 %r.more, label %end, label %columns.next",
        "columns.next:",
    ]
    lines += [
        f"  %j.next = add i64 %j, {rows}",
        "  %j.more = icmp slt i64 %j.next, %n",
        "  br i1 %j.more, label %columns, label %rows.next",
        "rows.next:",
        f"  %i.next = add i64 %i, {rows}",
        "  %i.more = icmp slt i64 %i.next, %m",
        "  br i1 %i.more, label %rows, label %done",
        "done:",
        "  ret void",
    ]
    return Function(DOTS, "void", _PARAMETERS, lines)
