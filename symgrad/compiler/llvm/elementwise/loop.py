"""NumPy's inner loop around the equations of a pointwise kernel, and the plan by which the loop runs them.

The inner loop is the same for every kernel: all differences are in the kernel's ``plan``, a constant. So the loop is
compiled once in a process, and a kernel compiles only its equations (which takes a quarter of the time). With every
call NumPy passes the loop a cell of two words: the address of the current plan, and a count of the elements computed so
far. The plan may change between calls. Each call also adds a fixed number of elements to the count, for its overhead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from symgrad.compiler.llvm.call_stubs.plan_fields import FIELDS
from symgrad.compiler.llvm.text.copy_loops import STREAM_FUNCTION, copy_function
from symgrad.compiler.llvm.text.module import ATTRIBUTES, Global, Item
from symgrad.compiler.llvm.text.scratch_memory import SCRATCH, SCRATCH_DECLARATIONS
from symgrad.compiler.llvm.text.templates import fill_template, load_fields
from symgrad.compiler.llvm.text.types import FloatType

LOOP, PLAN = "ufunc.loop", "ufunc.plan"
"""Names of the inner loop (inside a module) and of the plan (in every kernel's module). They contain a dot, like all of
symgrad's names: no C function and no name of the user has a dot."""

_BUFFER = 12_288
"""The bytes that all buffers together should have, well below the size of the first-level cache."""

_STREAMED = 2**24
"""If a call has at least so many bytes of outputs and the loop is bound by memory, results are written with streaming
stores, which bypass the caches. In a loop bound by computation, ordinary stores overlap with the computation."""

# Scratch is tables of addresses, buffers, and spilled values. When memory is exhausted no error can be reported from a
# loop that may run without the GIL, and wrong numbers are worse than an abort.
#
# `dependence`: reduce and accumulate of a ufunc of two inputs pass an output element as the first input of
# the next element. That is the one legal use where elements depend on each other, so they are computed one by
# one.
_LOOP = """\
define ${linkage}void @${name}(ptr %args, ptr %dimensions, ptr %steps, ptr ${given}) #0 {
entry:
  %n = load i64, ptr %dimensions
${cell}  %nonempty = icmp sgt i64 %n, 0
  br i1 %nonempty, label %start, label %done
start:
${fields}
  %width.less.one = sub i64 %width, 1
  %minus.width = sub i64 0, %width
  %table = mul i64 %nargs, 8
  %tables = mul i64 %nargs, 16
  %tables.up = add i64 %tables, 63
  %buffers.offset = and i64 %tables.up, -64
  %buffers.size = mul i64 %nargs, %stride
  %spill.offset = add i64 %buffers.offset, %buffers.size
  %scratch.size = add i64 %spill.offset, %spill.size
${scratch}  %bases = getelementptr i8, ptr %scratch, i64 0
  %masks = getelementptr i8, ptr %bases, i64 %table
  %buffers = getelementptr i8, ptr %bases, i64 %buffers.offset
  %spill = getelementptr i8, ptr %bases, i64 %spill.offset
  %two.in = icmp eq i64 %nin, 2
  %one.out = icmp eq i64 %nargs, 3
  %binary = and i1 %two.in, %one.out
  br i1 %binary, label %dependence, label %prepared
dependence:
  %acc = load ptr, ptr %args
  %acc.step = load i64, ptr %steps
  %out.at = getelementptr ptr, ptr %args, i64 2
  %out = load ptr, ptr %out.at
  %out.step.at = getelementptr i64, ptr %steps, i64 2
  %out.step = load i64, ptr %out.step.at
  %acc.next = getelementptr i8, ptr %acc, i64 %acc.step
  %same.step = icmp eq i64 %acc.step, %out.step
  %same.place = icmp eq ptr %acc.next, %out
  %follows = and i1 %same.step, %same.place
  br label %prepared
prepared:
  %chained = phi i1 [ false, %scratch.ready ], [ %follows, %dependence ]
  %parallel = xor i1 %chained, true
  %block.size = select i1 %chained, i64 1, i64 %block.elements
  br label %classify

classify:
  %k = phi i64 [ 0, %prepared ], [ %k.next, %classified ]
  %fast = phi i1 [ %parallel, %prepared ], [ %fast.next, %classified ]
  %out.bytes = phi i64 [ 0, %prepared ], [ %out.bytes.next, %classified ]
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  %step = load i64, ptr %step.at
  %size.at = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size.at
  %contiguous = icmp eq i64 %step, %size
  %input = icmp slt i64 %k, %nin
  %written.bytes = select i1 %input, i64 0, i64 %size
  %out.bytes.next = add i64 %out.bytes, %written.bytes
  %still = icmp eq i64 %step, 0
  %repeated = and i1 %input, %still
  br i1 %repeated, label %repeat, label %classified
repeat:
  %lane.offset = mul i64 %k, %stride
  %lanes = getelementptr i8, ptr %buffers, i64 %lane.offset
  call void @ufunc.copy(ptr %arg, i64 0, ptr %lanes, i64 %size, i64 %width, i64 %width.less.one, i64 %size)
  br label %classified
classified:
  %base = phi ptr [ %arg, %classify ], [ %lanes, %repeat ]
  %mask = phi i64 [ -1, %classify ], [ 0, %repeat ]
  %base.at = getelementptr ptr, ptr %bases, i64 %k
  store ptr %base, ptr %base.at
  %mask.at = getelementptr i64, ptr %masks, i64 %k
  store i64 %mask, ptr %mask.at
  %fits = or i1 %contiguous, %repeated
  %fast.next = and i1 %fast, %fits
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %classify, label %whole

whole:
  %whole.n = and i64 %n, %minus.width
  %some = icmp sgt i64 %whole.n, 0
  %go = and i1 %some, %fast.next
  br i1 %go, label %vectors, label %rest
vectors:
  %written = mul i64 %whole.n, %out.bytes.next
  %large = icmp sge i64 %written, %streamed.from
  br i1 %large, label %streamed, label %at.once
at.once:
  call void %body(ptr %bases, ptr %masks, i64 %whole.n, ptr %spill)
  br label %rest

streamed:
  %t = phi i64 [ 0, %vectors ], [ %t.next, %stream.done ]
  %t.left = sub i64 %whole.n, %t
  %t.short = icmp slt i64 %t.left, %block.elements
  %t.count = select i1 %t.short, i64 %t.left, i64 %block.elements
  br label %place
place:
  %tk = phi i64 [ 0, %streamed ], [ %tk.next, %placed ]
  %tbase.at = getelementptr ptr, ptr %bases, i64 %tk
  %t.input = icmp slt i64 %tk, %nin
  br i1 %t.input, label %place.input, label %place.output
place.input:
  %targ.at = getelementptr ptr, ptr %args, i64 %tk
  %targ = load ptr, ptr %targ.at
  %tstep.at = getelementptr i64, ptr %steps, i64 %tk
  %tstep = load i64, ptr %tstep.at
  %t.still = icmp eq i64 %tstep, 0
  br i1 %t.still, label %placed, label %place.next
place.next:
  %tfrom = mul i64 %t, %tstep
  %tsrc = getelementptr i8, ptr %targ, i64 %tfrom
  store ptr %tsrc, ptr %tbase.at
  br label %placed
place.output:
  %tbuf.offset = mul i64 %tk, %stride
  %tbuf = getelementptr i8, ptr %buffers, i64 %tbuf.offset
  store ptr %tbuf, ptr %tbase.at
  br label %placed
placed:
  %tk.next = add i64 %tk, 1
  %tk.more = icmp slt i64 %tk.next, %nargs
  br i1 %tk.more, label %place, label %stream.compute
stream.compute:
  call void %body(ptr %bases, ptr %masks, i64 %t.count, ptr %spill)
  br label %stream
stream:
  %uk = phi i64 [ %nin, %stream.compute ], [ %uk.next, %stream ]
  %uarg.at = getelementptr ptr, ptr %args, i64 %uk
  %uarg = load ptr, ptr %uarg.at
  %usize.at = getelementptr i64, ptr %sizes, i64 %uk
  %usize = load i64, ptr %usize.at
  %ubuf.offset = mul i64 %uk, %stride
  %ubuf = getelementptr i8, ptr %buffers, i64 %ubuf.offset
  %uto = mul i64 %t, %usize
  %udst = getelementptr i8, ptr %uarg, i64 %uto
  %ubytes = mul i64 %t.count, %usize
  call void %mover(ptr %ubuf, ptr %udst, i64 %ubytes)
  %uk.next = add i64 %uk, 1
  %uk.more = icmp slt i64 %uk.next, %nargs
  br i1 %uk.more, label %stream, label %stream.done
stream.done:
  %t.next = add i64 %t, %t.count
  %t.more = icmp slt i64 %t.next, %whole.n
  br i1 %t.more, label %streamed, label %visible
visible:
  fence seq_cst
  br label %rest

rest:
  %first = phi i64 [ 0, %whole ], [ %whole.n, %at.once ], [ %whole.n, %visible ]
  %left = icmp slt i64 %first, %n
  br i1 %left, label %point, label %finish
point:
  %pk = phi i64 [ 0, %rest ], [ %pk.next, %point ]
  %buffer.offset = mul i64 %pk, %stride
  %buffer = getelementptr i8, ptr %buffers, i64 %buffer.offset
  %pbase.at = getelementptr ptr, ptr %bases, i64 %pk
  store ptr %buffer, ptr %pbase.at
  %pmask.at = getelementptr i64, ptr %masks, i64 %pk
  store i64 -1, ptr %pmask.at
  %pk.next = add i64 %pk, 1
  %pk.more = icmp slt i64 %pk.next, %nargs
  br i1 %pk.more, label %point, label %block

block:
  %i = phi i64 [ %first, %point ], [ %i.next, %blocked ]
  %remaining = sub i64 %n, %i
  %short = icmp slt i64 %remaining, %block.size
  %count = select i1 %short, i64 %remaining, i64 %block.size
  %last = sub i64 %count, 1
  %up = add i64 %count, %width.less.one
  %padded = and i64 %up, %minus.width
  br label %gather.test
gather.test:
  %gk = phi i64 [ 0, %block ], [ %gk.next, %gather ]
  %g.more = icmp slt i64 %gk, %nin
  br i1 %g.more, label %gather, label %compute
gather:
  %garg.at = getelementptr ptr, ptr %args, i64 %gk
  %garg = load ptr, ptr %garg.at
  %gstep.at = getelementptr i64, ptr %steps, i64 %gk
  %gstep = load i64, ptr %gstep.at
  %gsize.at = getelementptr i64, ptr %sizes, i64 %gk
  %gsize = load i64, ptr %gsize.at
  %gbuf.offset = mul i64 %gk, %stride
  %gbuf = getelementptr i8, ptr %buffers, i64 %gbuf.offset
  %gfrom = mul i64 %i, %gstep
  %gsrc = getelementptr i8, ptr %garg, i64 %gfrom
  call void @ufunc.copy(ptr %gsrc, i64 %gstep, ptr %gbuf, i64 %gsize, i64 %padded, i64 %last, i64 %gsize)
  %gk.next = add i64 %gk, 1
  br label %gather.test
compute:
  call void %body(ptr %bases, ptr %masks, i64 %padded, ptr %spill)
  br label %scatter
scatter:
  %sk = phi i64 [ %nin, %compute ], [ %sk.next, %scatter ]
  %sarg.at = getelementptr ptr, ptr %args, i64 %sk
  %sarg = load ptr, ptr %sarg.at
  %sstep.at = getelementptr i64, ptr %steps, i64 %sk
  %sstep = load i64, ptr %sstep.at
  %ssize.at = getelementptr i64, ptr %sizes, i64 %sk
  %ssize = load i64, ptr %ssize.at
  %sbuf.offset = mul i64 %sk, %stride
  %sbuf = getelementptr i8, ptr %buffers, i64 %sbuf.offset
  %sto = mul i64 %i, %sstep
  %sdst = getelementptr i8, ptr %sarg, i64 %sto
  call void @ufunc.copy(ptr %sbuf, i64 %ssize, ptr %sdst, i64 %sstep, i64 %count, i64 %last, i64 %ssize)
  %sk.next = add i64 %sk, 1
  %s.more = icmp slt i64 %sk.next, %nargs
  br i1 %s.more, label %scatter, label %blocked
blocked:
  %i.next = add i64 %i, %count
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %block, label %finish
finish:
  call void @free(ptr %heap)
  br label %done
done:
  ret void
exhausted:
  call void @abort()
  unreachable
}
"""


# Threads that count at the same time may lose counts. That is acceptable, since the count only shows roughly when
# better code pays.
_CELL = """\
  %plan = load atomic ptr, ptr %cell acquire, align 8
  %count.at = getelementptr i64, ptr %cell, i64 1
  %count.before = load atomic i64, ptr %count.at monotonic, align 8
  %call.at = getelementptr i64, ptr %plan, i64 ${call}
  %call.counts = load i64, ptr %call.at, align 1
  %count.here = add i64 %n, %call.counts
  %count.after = add i64 %count.before, %count.here
  store atomic i64 %count.after, ptr %count.at monotonic, align 8
"""


def driver_name(sizes: Collection[int]) -> str:
    """Return the name of the inner loop for kernels whose arguments have elements of these sizes, in bytes."""
    return ".".join([LOOP, *map(str, sorted(sizes))])


def driver(sizes: Collection[int] = (8, 4, 1), *, internal: bool = False) -> str:
    """Return the text of the inner loop; if it is not internal, its name contains the sizes.

    Args:
        sizes: the sizes in bytes of the elements of arguments that it supports.
        internal: for use inside a kernel's own module, with its plan in place of a cell.
    """
    return _driver(tuple(sorted(set(sizes))), internal)


@cache  # every kernel needs it
def _driver(sizes: tuple[int, ...], internal: bool) -> str:
    call = [name for name, _ in FIELDS].index("call.elements")
    parts = {
        "linkage": "internal " if internal else "",
        "name": LOOP if internal else driver_name(sizes),
        "given": "%plan" if internal else "%cell",
        "cell": "" if internal else fill_template(_CELL, {"call": call}),
        "fields": load_fields("%plan", FIELDS),
        "scratch": SCRATCH,
    }
    return (
        fill_template(_LOOP, parts)
        + SCRATCH_DECLARATIONS
        + copy_function(sizes)
        + ("" if internal else ATTRIBUTES)
    )


def plan(
    itemsizes: Sequence[int],
    nin: int,
    width: int,
    real: FloatType,
    spill_bytes: int,
    *,
    streams: bool,
    call_elements: int,
    internal: bool,
) -> list[Item]:
    """Return the constants by which the inner loop runs ``body``, in the order in which the loop reads them.

    The function with the streaming stores is in the kernel's own module, where it is optimised. The code of the inner
    loop is not, and would be slower than memory.
    """
    n = len(itemsizes)
    vector = width * real.itemsize
    stride = max(vector, min(_BUFFER // n, 64 * vector) // vector * vector)
    values = {
        "nargs": n,
        "nin": nin,
        "width": width,
        "stride": stride,
        "block.elements": stride // real.itemsize,
        "spill.size": spill_bytes,
        "sizes": "@ufunc.sizes",
        "body": "@ufunc.body",
        "streamed.from": _STREAMED if streams else 2**62,
        "call.elements": call_elements,
        "mover": "@ufunc.stream" if streams else "null",
    }
    kinds = ", ".join(kind for _, kind in FIELDS)
    fields = ", ".join(f"{kind} {values[name]}" for name, kind in FIELDS)
    linkage = "internal" if internal else "external"
    return [
        Global("ufunc.sizes", f"[{n} x i64]", f"[{', '.join(f'i64 {s}' for s in itemsizes)}]"),
        Global(PLAN, f"{{ {kinds} }}", f"{{ {fields} }}", linkage),
        *([STREAM_FUNCTION] if streams else []),
    ]
