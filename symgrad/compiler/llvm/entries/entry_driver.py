"""NumPy's inner loop around scalar equations for the entries of small arrays, and the record of one kernel.

    entries.loop   the inner loop of a generalised ufunc
    entries.batch  the same without Python; returns 1 if memory is exhausted

The equations compute W points at a time, and read each entry of W points from a vector. So for every block of points
the loop transposes the inputs to buffers, calls the equations, and transposes the results back: tiles of T points and T
entries in registers where the entries of a point are contiguous, else element by element. If an output begins where an
input does, a block has one point, because NumPy assumes that a loop reads before it writes.
"""

from __future__ import annotations

from symgrad.compiler.llvm.arrays.driver import loop_function, python_declarations
from symgrad.compiler.llvm.call_stubs.plan_fields import FIELDS
from symgrad.compiler.llvm.entries.entry_moves import move_functions
from symgrad.compiler.llvm.text.copy_loops import copy_function
from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.scratch_memory import SCRATCH, SCRATCH_DECLARATIONS
from symgrad.compiler.llvm.text.templates import fill_template, load_fields
from symgrad.compiler.llvm.text.types import FloatType

RECORD = (
    ("cell", "ptr"),  # the cell of the equations, which begins with the address of their plan
    ("arguments", "i64"),
    ("inputs", "i64"),
    ("counts", "ptr"),  # the number of entries of each argument
    ("ranks", "ptr"),
    ("lengths", "ptr"),  # of the axes of all arguments
)
"""The fields of the record of a kernel, the last argument of the loop."""

_BUFFERS = 12_288
"""The bytes that the buffers should have, a quarter of a first-level cache: the arrays themselves need room, too."""

_BATCH = """\
define i32 @entries.batch(ptr %args, ptr %dimensions, ptr %steps, ptr %record) #0 {
entry:
  %n = load i64, ptr %dimensions
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %start, label %nothing
nothing:
  ret i32 0
exhausted:
  ret i32 1
start:
${record}
  %plan = load ptr, ptr %cell
${fields}
  %core = getelementptr i64, ptr %steps, i64 %arguments
  %row.size = mul i64 %nargs, ${itemsize}
  %rough = udiv i64 ${buffers}, %row.size
  %minus.width = sub i64 0, %width
  %whole.rows = and i64 %rough, %minus.width
  %few.rows = icmp slt i64 %whole.rows, %width
  %most = select i1 %few.rows, i64 %width, i64 %whole.rows
  %n.up = add i64 %n, %width
  %n.less = sub i64 %n.up, 1
  %n.whole = and i64 %n.less, %minus.width
  %all.fit = icmp slt i64 %n.whole, %most
  %rows = select i1 %all.fit, i64 %n.whole, i64 %most
  %row = mul i64 %rows, ${itemsize}
  %table = mul i64 %nargs, 8
  %tables = mul i64 %table, 3
  %dense.size = mul i64 %arguments, 8
  %head = add i64 %tables, %dense.size
  %head.up = add i64 %head, 63
  %buffers.at = and i64 %head.up, -64
  %padded.nargs = add i64 %nargs, ${tile}
  %buffers.size = mul i64 %padded.nargs, %row
  %spill.at = add i64 %buffers.at, %buffers.size
  %scratch.size = add i64 %spill.at, %spill.size
${scratch}  %bases = getelementptr i8, ptr %scratch, i64 0
  %masks = getelementptr i8, ptr %bases, i64 %table
  %offsets = getelementptr i8, ptr %masks, i64 %table
  %denses = getelementptr i8, ptr %offsets, i64 %table
  %buffers = getelementptr i8, ptr %bases, i64 %buffers.at
  %spill = getelementptr i8, ptr %bases, i64 %spill.at
  br label %argument

argument:
  %k = phi i64 [ 0, %scratch.ready ], [ %k.next, %argument.done ]
  %first = phi i64 [ 0, %scratch.ready ], [ %first.next, %argument.done ]
  %axis = phi i64 [ 0, %scratch.ready ], [ %axis.next, %argument.done ]
  %shared = phi i1 [ false, %scratch.ready ], [ %shared.next, %argument.done ]
  %count.at = getelementptr i64, ptr %counts, i64 %k
  %count = load i64, ptr %count.at
  %rank.at = getelementptr i64, ptr %ranks, i64 %k
  %rank = load i64, ptr %rank.at
  %axis.next = add i64 %axis, %rank
  %first.next = add i64 %first, %count
  %own = getelementptr i64, ptr %offsets, i64 %first
  %itemsize.at = getelementptr i64, ptr %sizes, i64 %first
  store i64 0, ptr %own
  br label %expand
expand:
  %d = phi i64 [ %axis, %argument ], [ %d.next, %expanded ]
  %made = phi i64 [ 1, %argument ], [ %made.next, %expanded ]
  %d.more = icmp slt i64 %d, %axis.next
  br i1 %d.more, label %axes, label %entry.start
axes:
  %length.at = getelementptr i64, ptr %lengths, i64 %d
  %length = load i64, ptr %length.at
  %stride.at = getelementptr i64, ptr %core, i64 %d
  %stride.d = load i64, ptr %stride.at
  %made.next = mul i64 %made, %length
  br label %each
each:
  %e = phi i64 [ %made, %axes ], [ %e.less, %each.done ]
  %e.less = sub i64 %e, 1
  %before.at = getelementptr i64, ptr %own, i64 %e.less
  %before = load i64, ptr %before.at
  %row.start = mul i64 %e.less, %length
  br label %along
along:
  %i = phi i64 [ %length, %each ], [ %i.less, %along ]
  %i.less = sub i64 %i, 1
  %along.offset = mul i64 %i.less, %stride.d
  %offset = add i64 %before, %along.offset
  %to = add i64 %row.start, %i.less
  %to.at = getelementptr i64, ptr %own, i64 %to
  store i64 %offset, ptr %to.at
  %i.more = icmp sgt i64 %i.less, 0
  br i1 %i.more, label %along, label %each.done
each.done:
  %e.more = icmp sgt i64 %e.less, 0
  br i1 %e.more, label %each, label %expanded
expanded:
  %d.next = add i64 %d, 1
  br label %expand
entry.start:
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  %step = load i64, ptr %step.at
  %itemsize = load i64, ptr %itemsize.at
  %is.input = icmp slt i64 %k, %inputs
  %still = icmp eq i64 %step, 0
  %repeated = and i1 %is.input, %still
  %mask = select i1 %repeated, i64 0, i64 -1
  %wide = icmp eq i64 %itemsize, ${itemsize}
  %many = icmp sge i64 %count, 3
  %tiled = and i1 %wide, %many
  br label %entries
entries:
  %x = phi i64 [ 0, %entry.start ], [ %x.next, %entries.done ]
  %dense = phi i1 [ %tiled, %entry.start ], [ %dense.next, %entries.done ]
  %x.all = add i64 %first, %x
  %x.offset.at = getelementptr i64, ptr %own, i64 %x
  %x.offset = load i64, ptr %x.offset.at
  %x.dense = mul i64 %x, ${itemsize}
  %x.fits = icmp eq i64 %x.offset, %x.dense
  %dense.next = and i1 %dense, %x.fits
  %x.buffer.offset = mul i64 %x.all, %row
  %x.buffer = getelementptr i8, ptr %buffers, i64 %x.buffer.offset
  %x.base.at = getelementptr ptr, ptr %bases, i64 %x.all
  store ptr %x.buffer, ptr %x.base.at
  %x.mask.at = getelementptr i64, ptr %masks, i64 %x.all
  store i64 %mask, ptr %x.mask.at
  br i1 %repeated, label %repeat, label %entries.done
repeat:
  %x.from = getelementptr i8, ptr %arg, i64 %x.offset
  %last.lane = sub i64 %width, 1
  call void @ufunc.copy(ptr %x.from, i64 0, ptr %x.buffer, i64 %itemsize, i64 %width, i64 %last.lane, i64 %itemsize)
  br label %entries.done
entries.done:
  %x.next = add i64 %x, 1
  %x.more = icmp slt i64 %x.next, %count
  br i1 %x.more, label %entries, label %overlap
overlap:
  %j = phi i64 [ 0, %entries.done ], [ %j.next, %compare ]
  %shared.now = phi i1 [ %shared, %entries.done ], [ %shared.with, %compare ]
  %j.more = icmp slt i64 %j, %inputs
  %is.output = xor i1 %is.input, true
  %look = and i1 %j.more, %is.output
  br i1 %look, label %compare, label %argument.done
compare:
  %j.at = getelementptr ptr, ptr %args, i64 %j
  %j.arg = load ptr, ptr %j.at
  %same = icmp eq ptr %j.arg, %arg
  %shared.with = or i1 %shared.now, %same
  %j.next = add i64 %j, 1
  br label %overlap
argument.done:
  %shared.next = phi i1 [ %shared.now, %overlap ]
  %dense.word = zext i1 %dense.next to i64
  %dense.at = getelementptr i64, ptr %denses, i64 %k
  store i64 %dense.word, ptr %dense.at
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %arguments
  br i1 %k.more, label %argument, label %blocks

blocks:
  %block = select i1 %shared.next, i64 1, i64 %rows
  br label %turn
turn:
  %t = phi i64 [ 0, %blocks ], [ %t.next, %turn.done ]
  %left = sub i64 %n, %t
  %short = icmp slt i64 %left, %block
  %m = select i1 %short, i64 %left, i64 %block
  %m.up = add i64 %m, %width
  %m.less = sub i64 %m.up, 1
  %padded = and i64 %m.less, %minus.width
  br label %move.in
move.in:
  %i.k = phi i64 [ 0, %turn ], [ %i.k.next, %moved.in ]
  %i.first = phi i64 [ 0, %turn ], [ %i.first.next, %moved.in ]
  %i.any = icmp slt i64 %i.k, %inputs
  br i1 %i.any, label %fetch, label %compute
fetch:
${input}  br i1 %i.still, label %moved.in, label %gather
gather:
${gather}  br label %moved.in
moved.in:
  %i.k.next = add i64 %i.k, 1
  br label %move.in
compute:
  call void %body(ptr %bases, ptr %masks, i64 %padded, ptr %spill)
  br label %move.out
move.out:
  %o.k = phi i64 [ %inputs, %compute ], [ %o.k.next, %scatter ]
  %o.first = phi i64 [ %i.first, %compute ], [ %o.first.next, %scatter ]
  %o.any = icmp slt i64 %o.k, %arguments
  br i1 %o.any, label %scatter, label %turn.done
scatter:
${output}${scatter}  %o.k.next = add i64 %o.k, 1
  br label %move.out
turn.done:
  %t.next = add i64 %t, %m
  %t.more = icmp slt i64 %t.next, %n
  br i1 %t.more, label %turn, label %release
release:
  call void @free(ptr %heap)
  ret i32 0
}
"""

# The place of one argument for a block of points, whose entries begin at the entry `first` of all.
_ARGUMENT = """\
  %${x}.count.at = getelementptr i64, ptr %counts, i64 %${x}.k
  %${x}.count = load i64, ptr %${x}.count.at
  %${x}.first.next = add i64 %${x}.first, %${x}.count
  %${x}.step.at = getelementptr i64, ptr %steps, i64 %${x}.k
  %${x}.step = load i64, ptr %${x}.step.at
  %${x}.still = icmp eq i64 %${x}.step, 0
  %${x}.arg.at = getelementptr ptr, ptr %args, i64 %${x}.k
  %${x}.arg = load ptr, ptr %${x}.arg.at
  %${x}.skip = mul i64 %t, %${x}.step
  %${x}.place = getelementptr i8, ptr %${x}.arg, i64 %${x}.skip
  %${x}.dense.at = getelementptr i64, ptr %denses, i64 %${x}.k
  %${x}.dense = load i64, ptr %${x}.dense.at
  %${x}.offsets = getelementptr i64, ptr %offsets, i64 %${x}.first
  %${x}.base = mul i64 %${x}.first, %row
  %${x}.buffer = getelementptr i8, ptr %buffers, i64 %${x}.base
  %${x}.size.at = getelementptr i64, ptr %sizes, i64 %${x}.first
  %${x}.size = load i64, ptr %${x}.size.at
"""

_CALL = """\
  call void @entries.${way}(ptr %${x}.place, i64 %${x}.step, ptr %${x}.buffer, i64 %row, i64 %${x}.count, i64 %m,
    i64 %${count}, i64 %${x}.dense, ptr %${x}.offsets, i64 %${x}.size)
"""

_REPORT = """\
  %gil = call i32 @PyGILState_Ensure()
  %null = call ptr @PyErr_NoMemory()
  call void @PyGILState_Release(i32 %gil)
"""

_PYTHON_FUNCTIONS = ("PyErr_NoMemory", "PyGILState_Ensure", "PyGILState_Release")


def driver_text(real: FloatType, tile: int) -> str:
    """Return the text of the driver for one format of numbers.

    Args:
        real: the format.
        tile: the points and entries of a tile, a power of two: the lanes of a vector.
    """
    batch = {
        "record": load_fields("%record", RECORD),
        "fields": load_fields("%plan", FIELDS, ("nargs", "width", "spill.size", "sizes", "body")),
        "buffers": _BUFFERS,
        "scratch": SCRATCH,
        "input": fill_template(_ARGUMENT, {"x": "i"}),
        "gather": fill_template(_CALL, {"x": "i", "way": "in", "count": "padded"}),
        "output": fill_template(_ARGUMENT, {"x": "o"}),
        "scatter": fill_template(_CALL, {"x": "o", "way": "out", "count": "m"}),
        "itemsize": real.itemsize,
        "tile": tile,
    }
    sizes = sorted({1, real.itemsize})
    return "\n".join(
        [
            fill_template(_BATCH, batch),
            move_functions(real, tile),
            loop_function("entries", _REPORT),
            *python_declarations(_PYTHON_FUNCTIONS),
            SCRATCH_DECLARATIONS,
            copy_function(sizes),
            ATTRIBUTES,
        ]
    )
