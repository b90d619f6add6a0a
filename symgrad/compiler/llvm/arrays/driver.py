"""The driver of array programs: NumPy's inner loop around the code of a program, and the plan of one kernel.

    array.loop   the inner loop that NumPy calls: for every element of a batch it makes the arrays contiguous and
                 aligned, runs the code, and scatters the results
    array.batch  the same without Python; returns 1 if memory is exhausted, 2 if a computed length of an axis would be
                 negative
    array.once   the same for a caller that does not use NumPy and holds the GIL
    array.stopped  returns whether Python has a pending exception, after a check for Ctrl-C
    array.drop   frees the memory of a kernel

Like the loop of pointwise kernels (`loop.py`) it is compiled once on a machine. Everything that differs between kernels
is in the plan, a table of numbers that NumPy passes to every call. The driver calls functions of Python by name:
addresses would make its text different in every process, so the disk cache would never find it.

Memory comes from the arena of the kernel: one block, taken and returned by atomic exchange, so that a second call does
not touch fresh pages. A thread that finds the arena empty allocates a block.
"""

from __future__ import annotations

from collections.abc import Iterable

from symgrad.compiler.llvm.arrays.strided_copy import STRIDED
from symgrad.compiler.llvm.arrays.symbol_names import NEGATIVE
from symgrad.compiler.llvm.text.copy_loops import copy_function
from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.templates import fill_template, load_fields

# Tables with an entry for each argument are on the stack; their size does not depend on the arrays.
#
# An input is copied if its layout is not that of the code. In a ufunc without core dimensions (%private) it is
# always copied, because reduce and accumulate pass an output as the next input. An input that does not move along the
# batch is copied once. An output that is also an input is copied, too: NumPy permits this overlap, because it assumes
# that a loop reads # before it writes. Sums of sizes saturate instead of wrapping around to a small number. More
# memory than the machine has (%most) is refused at once; that includes results, whose pages NumPy may not have touched
# yet.
_BATCH = """\
define i32 @array.batch(ptr %args, ptr %dimensions, ptr %steps, ptr %plan) #2 {
entry:
  %n = load i64, ptr %dimensions
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %start, label %nothing
nothing:
  ret i32 0
start:
${fields}
  %core = getelementptr i64, ptr %dimensions, i64 1
  %core.strides = getelementptr i64, ptr %steps, i64 %nargs
  %sizes = alloca i64, i64 %count
  %call = alloca ptr, i64 %nargs
  %copies = alloca i64, i64 %nargs
  %counters = alloca i64, i64 %rank.max
  br label %name.test

name.test:
  %m = phi i64 [ 0, %start ], [ %m.next, %name ]
  %m.more = icmp slt i64 %m, %count
  br i1 %m.more, label %name, label %classify
name:
  %name.at = getelementptr i64, ptr %names, i64 %m
  %name.axis = load i64, ptr %name.at
  %bound.at = getelementptr i64, ptr %core, i64 %name.axis
  %bound.length = load i64, ptr %bound.at
  %constant.at = getelementptr i64, ptr %constants, i64 %m
  %constant = load i64, ptr %constant.at
  %factor.at = getelementptr i64, ptr %factors, i64 %m
  %factor = load i64, ptr %factor.at
  %bound.multiple = sub i64 %bound.length, %constant
  %bound = sdiv i64 %bound.multiple, %factor
  %size.at = getelementptr i64, ptr %sizes, i64 %m
  store i64 %bound, ptr %size.at
  %m.next = add i64 %m, 1
  br label %name.test

classify:
  %k = phi i64 [ 0, %name.test ], [ %k.next, %decide ]
  %total = phi i64 [ 0, %name.test ], [ %total.next, %decide ]
  %given = phi i64 [ 0, %name.test ], [ %given.next, %decide ]
  %item.at = getelementptr i64, ptr %itemsizes, i64 %k
  %item = load i64, ptr %item.at
  %rank.at = getelementptr i64, ptr %ranks, i64 %k
  %rank = load i64, ptr %rank.at
  %first.at = getelementptr i64, ptr %offsets, i64 %k
  %first = load i64, ptr %first.at
  %axes.k = getelementptr i64, ptr %axes, i64 %first
  %strides.k = getelementptr i64, ptr %core.strides, i64 %first
  %innermost = sub i64 %rank, 1
  br label %axis.test
axis.test:
  %d = phi i64 [ %innermost, %classify ], [ %d.next, %axis ]
  %bytes = phi i64 [ %item, %classify ], [ %bytes.next, %axis ]
  %dense = phi i1 [ true, %classify ], [ %dense.next, %axis ]
  %d.more = icmp sge i64 %d, 0
  br i1 %d.more, label %axis, label %classified
axis:
  %axis.at = getelementptr i64, ptr %axes.k, i64 %d
  %axis.d = load i64, ptr %axis.at
  %length.at = getelementptr i64, ptr %core, i64 %axis.d
  %length = load i64, ptr %length.at
  %stride.at = getelementptr i64, ptr %strides.k, i64 %d
  %stride = load i64, ptr %stride.at
  %one = icmp eq i64 %length, 1
  %follows = icmp eq i64 %stride, %bytes
  %fits = or i1 %one, %follows
  %dense.next = and i1 %dense, %fits
  %bytes.next = mul i64 %bytes, %length
  %d.next = sub i64 %d, 1
  br label %axis.test
classified:
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load i64, ptr %arg.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  %step = load i64, ptr %step.at
  %input = icmp slt i64 %k, %nin
  br label %share.test
share.test:
  %j = phi i64 [ 0, %classified ], [ %j.next, %share ]
  %shared = phi i1 [ false, %classified ], [ %shared.next, %share ]
  %j.more = icmp slt i64 %j, %nin
  %unlike = xor i1 %input, true
  %compare = and i1 %j.more, %unlike
  br i1 %compare, label %share, label %decide
share:
  %jarg.at = getelementptr ptr, ptr %args, i64 %j
  %jarg = load i64, ptr %jarg.at
  %equal = icmp eq i64 %jarg, %arg
  %shared.next = or i1 %shared, %equal
  %j.next = add i64 %j, 1
  br label %share.test
decide:
  %low = or i64 %arg, %step
  %item.mask = sub i64 %item, 1
  %odd = and i64 %low, %item.mask
  %aligned = icmp eq i64 %odd, 0
  %usual = and i1 %dense, %aligned
  %void = icmp eq i64 %bytes, 0
  %taken = icmp ne i64 %private, 0
  %own.input = and i1 %input, %taken
  %must = or i1 %own.input, %shared
  %free = xor i1 %must, true
  %usable = and i1 %usual, %free
  %stays = or i1 %void, %usable
  %bytes.more = add i64 %bytes, 63
  %bytes.up = and i64 %bytes.more, -64
  %with = call i64 @llvm.uadd.sat.i64(i64 %total, i64 %bytes.up)
  %total.next = select i1 %stays, i64 %total, i64 %with
  %copy.offset = select i1 %stays, i64 -1, i64 %total
  %copy.at = getelementptr i64, ptr %copies, i64 %k
  store i64 %copy.offset, ptr %copy.at
  %results = mul i64 %bytes, %n
  %own.result = select i1 %input, i64 0, i64 %results
  %given.next = call i64 @llvm.uadd.sat.i64(i64 %given, i64 %own.result)
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %classify, label %acquire

acquire:
  %own = call i64 %scratch.bytes(ptr %sizes)
  %negative = icmp eq i64 %own, ${NEGATIVE}
  br i1 %negative, label %refuse, label %sum
refuse:
  ret i32 2
sum:
  %resultless = icmp eq i64 %given.next, 0
  br i1 %resultless, label %nothing, label %room
room:
  %need = call i64 @llvm.uadd.sat.i64(i64 %total.next, i64 %own)
  %together = call i64 @llvm.uadd.sat.i64(i64 %need, i64 %given.next)
  %beyond = icmp ugt i64 %together, %most
  br i1 %beyond, label %exhausted, label %able
able:
  %needless = icmp eq i64 %need, 0
  br i1 %needless, label %ready, label %take
take:
  %kept = atomicrmw xchg ptr %arena, i64 0 acq_rel
  %empty = icmp eq i64 %kept, 0
  br i1 %empty, label %allocate, label %measure
measure:
  %capacity.at = sub i64 %kept, 8
  %capacity.ptr = inttoptr i64 %capacity.at to ptr
  %capacity = load i64, ptr %capacity.ptr
  %enough = icmp uge i64 %capacity, %need
  br i1 %enough, label %ready, label %outgrown
outgrown:
  call void @array.free(i64 %kept)
  br label %allocate
allocate:
  %whole = call i64 @llvm.uadd.sat.i64(i64 %need, i64 128)
  %block = call ptr @malloc(i64 %whole)
  %none = icmp eq ptr %block, null
  br i1 %none, label %exhausted, label %align
exhausted:
  ret i32 1
align:
  %block.int = ptrtoint ptr %block to i64
  %above = add i64 %block.int, 79
  %fresh = and i64 %above, -64
  %block.slot.int = sub i64 %fresh, 16
  %block.slot = inttoptr i64 %block.slot.int to ptr
  store ptr %block, ptr %block.slot
  %need.slot.int = sub i64 %fresh, 8
  %need.slot = inttoptr i64 %need.slot.int to ptr
  store i64 %need, ptr %need.slot
  br label %ready
ready:
  %memory = phi i64 [ 0, %able ], [ %kept, %measure ], [ %fresh, %align ]
  %buffers = inttoptr i64 %memory to ptr
  %scratch = getelementptr i8, ptr %buffers, i64 %total.next
  br label %element

element:
  %i = phi i64 [ 0, %ready ], [ %i.next, %done ]
  %is.first = icmp eq i64 %i, 0
  br label %place
place:
  %p = phi i64 [ 0, %element ], [ %p.next, %placed ]
  %parg.at = getelementptr ptr, ptr %args, i64 %p
  %parg = load ptr, ptr %parg.at
  %pstep.at = getelementptr i64, ptr %steps, i64 %p
  %pstep = load i64, ptr %pstep.at
  %pfrom = mul i64 %i, %pstep
  %here = getelementptr i8, ptr %parg, i64 %pfrom
  %pcopy.at = getelementptr i64, ptr %copies, i64 %p
  %pcopy = load i64, ptr %pcopy.at
  %copied = icmp sge i64 %pcopy, 0
  br i1 %copied, label %elsewhere, label %placed
elsewhere:
  %buffer = getelementptr i8, ptr %buffers, i64 %pcopy
  %p.in = icmp slt i64 %p, %nin
  %moves = icmp ne i64 %pstep, 0
  %changed = or i1 %moves, %is.first
  %unsure = icmp ne i64 %private, 0
  %fetch = or i1 %changed, %unsure
  %gather.it = and i1 %p.in, %fetch
  br i1 %gather.it, label %gather, label %placed
gather:
  call void @array.copy(ptr %here, ptr %buffer, i64 %p, i1 false, ptr %core, ptr %core.strides, ptr %plan,
    ptr %counters)
  br label %placed
placed:
  %where = phi ptr [ %here, %place ], [ %buffer, %elsewhere ], [ %buffer, %gather ]
  %call.at = getelementptr ptr, ptr %call, i64 %p
  store ptr %where, ptr %call.at
  %p.next = add i64 %p, 1
  %p.more = icmp slt i64 %p.next, %nargs
  br i1 %p.more, label %place, label %compute
compute:
  call void %run(ptr %call, ptr %sizes, ptr %scratch)
  br label %result
result:
  %r = phi i64 [ %nin, %compute ], [ %r.next, %stored ]
  %rcopy.at = getelementptr i64, ptr %copies, i64 %r
  %rcopy = load i64, ptr %rcopy.at
  %rcopied = icmp sge i64 %rcopy, 0
  br i1 %rcopied, label %scatter, label %stored
scatter:
  %rarg.at = getelementptr ptr, ptr %args, i64 %r
  %rarg = load ptr, ptr %rarg.at
  %rstep.at = getelementptr i64, ptr %steps, i64 %r
  %rstep = load i64, ptr %rstep.at
  %rto = mul i64 %i, %rstep
  %there = getelementptr i8, ptr %rarg, i64 %rto
  %rbuffer = getelementptr i8, ptr %buffers, i64 %rcopy
  call void @array.copy(ptr %there, ptr %rbuffer, i64 %r, i1 true, ptr %core, ptr %core.strides, ptr %plan,
    ptr %counters)
  br label %stored
stored:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %nargs
  br i1 %r.more, label %result, label %done
done:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %element, label %release

release:
  br i1 %needless, label %finish, label %give.back
give.back:
  %other = atomicrmw xchg ptr %arena, i64 %memory acq_rel
  %alone = icmp eq i64 %other, 0
  br i1 %alone, label %finish, label %spare
spare:
  call void @array.free(i64 %other)
  br label %finish
finish:
  ret i32 0
}
"""

# NumPy turns floating-point exception flags into warnings. The flags say nothing about the result, because both sides
# of a `where` are computed, so the loop restores them.
_LOOP = """\
define void @${name}.loop(ptr %args, ptr %dimensions, ptr %steps, ptr %plan) #2 {
  %flags = alloca [8 x i64], align 16
  %got = call i32 @fegetenv(ptr %flags)
  %failed = call i32 @${name}.batch(ptr %args, ptr %dimensions, ptr %steps, ptr %plan)
  %set = call i32 @fesetenv(ptr %flags)
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %done, label %report
report:
${report}  br label %done
done:
  ret void
}
declare i32 @fegetenv(ptr)
declare i32 @fesetenv(ptr)
"""

_REPORT = """\
${errors}
  %gil = call i32 @PyGILState_Ensure()
  %negative = icmp eq i32 %failed, 2
  br i1 %negative, label %refused, label %exhausted
refused:
  call void @PyErr_SetString(ptr %ValueError, ptr %refusal)
  br label %reported
exhausted:
  %null = call ptr @PyErr_NoMemory()
  br label %reported
reported:
  call void @PyGILState_Release(i32 %gil)
"""

_ENTRY = """\
define i32 @array.once(ptr %args, ptr %dimensions, ptr %steps, ptr %plan) #2 {
  %state = call ptr @PyEval_SaveThread()
  %failed = call i32 @array.batch(ptr %args, ptr %dimensions, ptr %steps, ptr %plan)
  call void @PyEval_RestoreThread(ptr %state)
  ret i32 %failed
}
define i32 @array.stopped() #2 {
  %gil = call i32 @PyGILState_Ensure()
  %before = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %before, null
  br i1 %quiet, label %look, label %done
look:
  %found = call i32 @PyErr_CheckSignals()
  br label %done
done:
  %stopped = phi i32 [ 1, %0 ], [ %found, %look ]
  call void @PyGILState_Release(i32 %gil)
  ret i32 %stopped
}
define void @array.drop(ptr %arena) #2 {
  %kept = atomicrmw xchg ptr %arena, i64 0 acq_rel
  %empty = icmp eq i64 %kept, 0
  br i1 %empty, label %done, label %free
free:
  call void @array.free(i64 %kept)
  br label %done
done:
  ret void
}
define internal void @array.free(i64 %memory) #2 {
  %block.slot.int = sub i64 %memory, 16
  %block.slot = inttoptr i64 %block.slot.int to ptr
  %block = load ptr, ptr %block.slot
  call void @free(ptr %block)
  ret void
}
declare i64 @llvm.uadd.sat.i64(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
"""

PYTHON_FUNCTIONS = {
    "PyErr_CheckSignals": ("i32",),
    "PyErr_NoMemory": ("ptr",),
    "PyErr_Occurred": ("ptr",),
    "PyErr_SetString": ("void", "ptr", "ptr"),
    "PyEval_RestoreThread": ("void", "ptr"),
    "PyEval_SaveThread": ("ptr",),
    "PyGILState_Ensure": ("i32",),
    "PyGILState_Release": ("void", "i32"),
}
"""The functions of Python that the driver calls, each with the types of its result and parameters. They must be
registered before the driver is loaded."""

_ERRORS = ("refusal", "ValueError")

_TABLES = (
    ("nargs", "i64"),
    ("nin", "i64"),
    ("count", "i64"),  # number of size names
    ("rank.max", "i64"),
    ("private", "i64"),
    ("run", "ptr"),
    ("scratch.bytes", "ptr"),
    ("names", "ptr"),  # the core dimension that binds each size name: factor*name + constant
    ("factors", "ptr"),
    ("constants", "ptr"),
    ("itemsizes", "ptr"),  # of every argument; 0 for an input that is not read
    ("ranks", "ptr"),
    ("offsets", "ptr"),  # the start of the axes of each argument in the next table
    ("axes", "ptr"),  # the core dimension of each axis
    ("most", "i64"),  # maximum number of bytes of a call
)

FIELDS = (*_TABLES, *((name, "ptr") for name in _ERRORS))
"""The fields of the plan, followed by the slot of the arena. `refusal` is the message for a negative length."""


def loop_function(name: str, report: str) -> str:
    """Return the function ``name.loop``, which calls ``name.batch`` with the floating-point flags restored.

    Args:
        name: the prefix of both names.
        report: what it does with ``%failed``, if that is not 0; it holds no lock afterwards.
    """
    return fill_template(_LOOP, {"name": name, "report": report})


def python_declarations(names: Iterable[str]) -> list[str]:
    """Return the declarations of functions of Python."""
    return [
        f"declare {gives} @{n}({', '.join(takes)})" for n in names for gives, *takes in [PYTHON_FUNCTIONS[n]]
    ]


def driver_text() -> str:
    """Return the text of the driver, which is the same in every process."""
    arena = f"  %arena = getelementptr i64, ptr %plan, i64 {len(FIELDS)}"
    fields = f"{load_fields('%plan', _TABLES)}\n{arena}"
    report = fill_template(_REPORT, {"errors": load_fields("%plan", FIELDS, _ERRORS)})
    return "\n".join(
        [
            fill_template(_BATCH, {"fields": fields, "NEGATIVE": NEGATIVE}),
            fill_template(STRIDED, {"fields": fields}),
            loop_function("array", report),
            _ENTRY,
            copy_function(),
            *python_declarations(PYTHON_FUNCTIONS),
            ATTRIBUTES,
        ]
    )
