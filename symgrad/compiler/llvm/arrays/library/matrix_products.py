"""Matrix products of moderate size: symgrad's own function, compiled once in a process. Large products go to BLAS.

BLAS first packs its operands, which pays off if each entry is used some hundred times. Here the product of a block of
rows of x and a few vectors of columns of y stays in registers, and the operands are read in place.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.llvm.arrays.library.dot_products import DOTS, dots_function
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.externals import add_symbol
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile
from symgrad.compiler.llvm.engine.target import Target, host
from symgrad.compiler.llvm.text.module import Function, FunctionDeclaration, Item, Linkage, Module
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType

_VECTORS = 3
_CHUNK = 256
"""The number of products in a partial sum, so small that the panel of y that they read stays in the first-level
cache."""

_DOTS_MAX_ROWS, _DOTS_MIN_TERMS = 32, 64
"""If both operands are contiguous along the sum, there are at most so many rows and columns, and a sum has at least so
many terms, then the lanes run along the sum (`dot_products.py`)."""


def blas_threshold(target: Target) -> int:
    """Return the number of multiplications from which BLAS is called.

    With 32 registers of 64 bytes symgrad's function is twice as fast as SciPy's BLAS for smaller products (measured).
    With fewer registers BLAS is as fast for all but small products.
    """
    return 1 << 29 if target.vector_bytes == 64 else 1 << 18


@locked_cache
def _engine(real: FloatType) -> Engine:
    return load_or_compile(str(Module(product_items(real, host().target, linkage="external"))))


@locked_cache
def register_product(real: FloatType) -> None:
    """Compile the function for this machine once, and register it with LLVM."""
    name = product_name(real)
    add_symbol(name, _engine(real).address(name))


def product_name(real: FloatType) -> str:
    """Return the name of the function that computes z = x @ y.

    It is ``void (x, y, z, m, n, k, x_row, x_column, y_row, y_column, z_row)``; strides of rows and columns are in
    elements, and z is contiguous along rows.
    """
    return f"symgrad.product.f{real.bits}"


def product_items(real: FloatType, target: Target, *, linkage: Linkage) -> list[Item]:
    """Return the function and its helpers, with their declarations."""
    # The sums of a block are in registers, of which there are 32 on AArch64 and with AVX-512, else 16.
    many = target.vector_bytes == 64 or host().triple.startswith(("aarch64", "arm64"))
    blocks, w = (8, 2, 1) if many else (4, 1), target.vector_bytes // real.itemsize
    v, suffix = f"<{w} x {real.llvm}>", f"v{w}f{real.bits}"
    parts: list[Item] = [
        _tile(real, w, r, n, fused=target.fused) for r in blocks for n in range(1, _VECTORS + 1)
    ]
    parts.append(dots_function(real, w, 5 if many else 3, fused=target.fused))
    parts.append(_driver(product_name(real), real, w, blocks, linkage))
    mask = f"<{w} x i1>"
    return [
        *parts,
        FunctionDeclaration(f"llvm.fma.{suffix}", v, (v, v, v)),
        FunctionDeclaration(f"llvm.masked.load.{suffix}.p0", v, ("ptr", mask, v)),
        FunctionDeclaration(f"llvm.masked.store.{suffix}.p0", "void", (v, "ptr", mask)),
    ]


_DRIVER = """\
define ${linkage}void @${name}(
  ptr %x, ptr %y, ptr %z, i64 %m, i64 %n, i64 %k, i64 %xr, i64 %xc, i64 %yr, i64 %yc, i64 %zr) #0 {
entry:
  %buffer = alloca [${buffered} x ${real}], align 64
  %any.n = icmp sgt i64 %n, 0
  %any.m = icmp sgt i64 %m, 0
  %any = and i1 %any.n, %any.m
  %direct = icmp eq i64 %yc, 1
  %x.along = icmp eq i64 %xc, 1
  %y.along = icmp eq i64 %yr, 1
  %along = and i1 %x.along, %y.along
  %few.m = icmp sle i64 %m, ${few}
  %few.n = icmp sle i64 %n, ${few}
  %few = and i1 %few.m, %few.n
  %long = icmp sge i64 %k, ${long}
  %few.long = and i1 %few, %long
  %dots = and i1 %along, %few.long
  br i1 %any, label %choice, label %done
choice:
  br i1 %dots, label %sums, label %columns
sums:
  call void @${dots}(ptr %x, ptr %y, ptr %z, i64 %m, i64 %n, i64 %k, i64 %xr, i64 %yc, i64 %zr)
  br label %done
columns:
  %j = phi i64 [ 0, %choice ], [ %j.next, %columns.next ]
  %left = sub i64 %n, %j
  %many = icmp sgt i64 %left, ${wide}
  %here = select i1 %many, i64 ${wide}, i64 %left
  %up = add i64 %here, ${lanes.less}
  %count = udiv i64 %up, ${lanes}
  %whole = sub i64 %count, 1
  %before = mul i64 %whole, ${lanes}
  %last = sub i64 %here, %before
  %y.at = mul i64 %j, %yc
  %yj = getelementptr ${real}, ptr %y, i64 %y.at
  %zj = getelementptr ${real}, ptr %z, i64 %j
  br label %chunks
chunks:
  %l = phi i64 [ 0, %columns ], [ %l.next, %chunks.next ]
  %l.left = sub i64 %k, %l
  %l.many = icmp sgt i64 %l.left, ${chunk}
  %terms = select i1 %l.many, i64 ${chunk}, i64 %l.left
  %add = icmp sgt i64 %l, 0
  %yl.at = mul i64 %l, %yr
  %yl = getelementptr ${real}, ptr %yj, i64 %yl.at
  %xl.at = mul i64 %l, %xc
  %xl = getelementptr ${real}, ptr %x, i64 %xl.at
  %some = icmp sgt i64 %terms, 0
  %copied = select i1 %some, i1 %direct, i1 true
  br i1 %copied, label %ready, label %copy
copy:
  %cj = phi i64 [ 0, %chunks ], [ %cj.next, %copy.next ]
  %from.at = mul i64 %cj, %yc
  %from = getelementptr ${real}, ptr %yl, i64 %from.at
  %to = getelementptr ${real}, ptr %buffer, i64 %cj
  br label %one
one:
  %cl = phi i64 [ 0, %copy ], [ %cl.next, %one ]
  %read.at = mul i64 %cl, %yr
  %read = getelementptr ${real}, ptr %from, i64 %read.at
  %value = load ${real}, ptr %read, align ${bytes}
  %write.at = mul i64 %cl, ${wide}
  %write = getelementptr ${real}, ptr %to, i64 %write.at
  store ${real} %value, ptr %write, align ${bytes}
  %cl.next = add i64 %cl, 1
  %cl.more = icmp slt i64 %cl.next, %terms
  br i1 %cl.more, label %one, label %copy.next
copy.next:
  %cj.next = add i64 %cj, 1
  %cj.more = icmp slt i64 %cj.next, %here
  br i1 %cj.more, label %copy, label %ready
ready:
  %panel = select i1 %direct, ptr %yl, ptr %buffer
  %panel.row = select i1 %direct, i64 %yr, i64 ${wide}
  br label %rows
rows:
  %i = phi i64 [ 0, %ready ], [ %i.next, %call ]
  %below = sub i64 %m, %i
${steps}
  %x.at = mul i64 %i, %xr
  %xi = getelementptr ${real}, ptr %xl, i64 %x.at
  %z.at = mul i64 %i, %zr
  %zi = getelementptr ${real}, ptr %zj, i64 %z.at
  switch i64 %count, label %case${vectors} [ ${switch} ]
${cases}
call:
  %f = phi ptr ${chosen}
  call void %f(
    ptr %xi, ptr %panel, ptr %zi, i64 %terms, i64 %xr, i64 %xc, i64 %panel.row, i64 %zr, i64 %last, i1 %add)
  %i.next = add i64 %i, ${step}
  %i.more = icmp slt i64 %i.next, %m
  br i1 %i.more, label %rows, label %chunks.next
chunks.next:
  %l.next = add i64 %l, ${chunk}
  %l.more = icmp slt i64 %l.next, %k
  br i1 %l.more, label %chunks, label %columns.next
columns.next:
  %j.next = add i64 %j, ${wide}
  %j.more = icmp slt i64 %j.next, %n
  br i1 %j.more, label %columns, label %done
done:
  ret void
}
"""


def _driver(name: str, real: FloatType, w: int, blocks: Sequence[int], linkage: Linkage) -> str:
    """Write the loops: columns in groups of vectors, sums of a group in chunks, rows of a chunk in blocks."""
    t, size, wide = real.llvm, real.itemsize, w * _VECTORS
    cases, steps = "", list[str]()
    for n in range(1, _VECTORS + 1):
        cases += f"case{n}:\n"
        found = f"@tile.1.{n}"
        for r in sorted(blocks)[1:]:
            cases += f"  %f{n}.{r} = select i1 %block{r}, ptr @tile.{r}.{n}, ptr {found}\n"
            found = f"%f{n}.{r}"
        cases += "  br label %call\n"
    step = "1"
    for r in sorted(blocks)[1:]:
        steps += [
            f"  %block{r} = icmp sge i64 %below, {r}",
            f"  %step{r} = select i1 %block{r}, i64 {r}, i64 {step}",
        ]
        step = f"%step{r}"
    chosen = ", ".join(f"[ %f{n}.{max(blocks)}, %case{n} ]" for n in range(1, _VECTORS + 1))
    switch = " ".join(f"i64 {n}, label %case{n}" for n in range(1, _VECTORS))
    return fill_template(
        _DRIVER,
        {
            "linkage": "internal " if linkage == "internal" else "",
            "name": name,
            "dots": DOTS,
            "real": t,
            "bytes": size,
            "lanes": w,
            "lanes.less": w - 1,
            "wide": wide,
            "chunk": _CHUNK,
            "buffered": _CHUNK * wide,
            "few": _DOTS_MAX_ROWS,
            "long": _DOTS_MIN_TERMS,
            "vectors": _VECTORS,
            "steps": "\n".join(steps),
            "switch": switch,
            "cases": cases,
            "chosen": chosen,
            "step": step,
        },
    )


_TILE_PARAMETERS = (
    *("ptr %x", "ptr %y", "ptr %z"),
    *(f"i64 %{n}" for n in ("k", "xr", "xc", "yr", "zr", "last")),
    "i1 %add",
)


def _tile(real: FloatType, w: int, rows: int, vectors: int, *, fused: bool) -> Function:
    """Write the product of a few rows and a few vectors of columns, with the last vector masked.

    Sums stay in registers.
    """
    t, v = real.llvm, f"<{w} x {real.llvm}>"
    suffix, size = f"v{w}f{real.bits}", real.itemsize
    mask = f"<{w} x i1>"
    lines = [
        "entry:",
        f"  %n.one = insertelement <{w} x i64> poison, i64 %last, i64 0",
        f"  %n = shufflevector <{w} x i64> %n.one, <{w} x i64> poison, <{w} x i32> zeroinitializer",
        f"  %mask = icmp ult <{w} x i64> <{', '.join(f'i64 {i}' for i in range(w))}>, %n",
        *(f"  %xo{r} = mul i64 %xr, {r}" for r in range(rows)),
        "  %any = icmp sgt i64 %k, 0",
        "  br i1 %any, label %terms, label %end",
        "terms:",
        "  %l = phi i64 [ 0, %entry ], [ %l.next, %terms ]",
        "  %xp = phi ptr [ %x, %entry ], [ %xp.next, %terms ]",
        "  %yp = phi ptr [ %y, %entry ], [ %yp.next, %terms ]",
    ]
    cells = [(r, c) for r in range(rows) for c in range(vectors)]
    lines += [f"  %s{r}.{c} = phi {v} [ zeroinitializer, %entry ], [ %t{r}.{c}, %terms ]" for r, c in cells]
    for c in range(vectors):
        lines.append(f"  %ya{c} = getelementptr {t}, ptr %yp, i64 {c * w}")
        if c < vectors - 1:
            lines.append(f"  %y{c} = load {v}, ptr %ya{c}, align {size}")
        else:
            lines.append(
                f"  %y{c} = call {v} @llvm.masked.load.{suffix}.p0(ptr align {size} %ya{c}, {mask} %mask, "
                f"{v} zeroinitializer)"
            )
    for r in range(rows):
        lines += [
            f"  %xa{r} = getelementptr {t}, ptr %xp, i64 %xo{r}",
            f"  %xv{r} = load {t}, ptr %xa{r}, align {size}",
            f"  %xs{r} = insertelement {v} poison, {t} %xv{r}, i64 0",
            f"  %x{r} = shufflevector {v} %xs{r}, {v} poison, <{w} x i32> zeroinitializer",
        ]
        for c in range(vectors):
            if fused:
                lines.append(
                    f"  %t{r}.{c} = call {v} @llvm.fma.{suffix}({v} %x{r}, {v} %y{c}, {v} %s{r}.{c})"
                )
            else:
                lines.append(f"  %p{r}.{c} = fmul {v} %x{r}, %y{c}")
                lines.append(f"  %t{r}.{c} = fadd {v} %s{r}.{c}, %p{r}.{c}")
    lines += [
        f"  %xp.next = getelementptr {t}, ptr %xp, i64 %xc",
        f"  %yp.next = getelementptr {t}, ptr %yp, i64 %yr",
        "  %l.next = add i64 %l, 1",
        "  %more = icmp slt i64 %l.next, %k",
        "  br i1 %more, label %terms, label %end",
        "end:",
        *(f"  %u{r}.{c} = phi {v} [ zeroinitializer, %entry ], [ %t{r}.{c}, %terms ]" for r, c in cells),
    ]
    for r in range(rows):
        lines.append(f"  %zo{r} = mul i64 %zr, {r}")
        for c in range(vectors):
            lines.append(f"  %zi{r}.{c} = add i64 %zo{r}, {c * w}")
            lines.append(f"  %za{r}.{c} = getelementptr {t}, ptr %z, i64 %zi{r}.{c}")
    lines += ["  br i1 %add, label %more.terms, label %first.terms", "more.terms:"]
    for r, c in cells:
        lines.append(
            f"  %o{r}.{c} = load {v}, ptr %za{r}.{c}, align {size}"
            if c < vectors - 1
            else f"  %o{r}.{c} = call {v} @llvm.masked.load.{suffix}.p0(ptr align {size} %za{r}.{c}, "
            f"{mask} %mask, {v} zeroinitializer)"
        )
        lines.append(f"  %a{r}.{c} = fadd {v} %u{r}.{c}, %o{r}.{c}")
    lines += ["  br label %first.terms", "first.terms:"]
    for r, c in cells:
        lines.append(f"  %w{r}.{c} = phi {v} [ %u{r}.{c}, %end ], [ %a{r}.{c}, %more.terms ]")
    for r, c in cells:
        lines.append(
            f"  store {v} %w{r}.{c}, ptr %za{r}.{c}, align {size}"
            if c < vectors - 1
            else f"  call void @llvm.masked.store.{suffix}.p0({v} %w{r}.{c}, ptr align {size} %za{r}.{c}, "
            f"{mask} %mask)"
        )
    return Function(f"tile.{rows}.{vectors}", "void", _TILE_PARAMETERS, [*lines, "  ret void"])
