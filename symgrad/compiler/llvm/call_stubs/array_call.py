"""The stub of direct calls: it reads Python's objects and runs the inner loop, without NumPy's dispatch.

A ufunc takes about 0.15 us for each argument before it computes anything. For a formula with twenty derivatives at a
thousand points that takes as long as the computation. The stub reads the fields of arrays as any compiled extension
does. It declines calls with an unusual argument; the caller then uses the ufunc.
"""

from __future__ import annotations

from symgrad.compiler.llvm.call_stubs.object_layout import (
    ALIGNED,
    C_CONTIGUOUS,
    OBJECT_FIELDS,
    WARN_ON_WRITE,
    WRITEABLE,
)
from symgrad.compiler.llvm.call_stubs.overlap_check import OVERLAP
from symgrad.compiler.llvm.call_stubs.plan_fields import FIELDS
from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.templates import fill_template, load_fields

__all__ = ["CALL", "INFO", "module_text"]

CALL = "direct.call"
"""The function: ``PyObject *(PyObject *self, PyObject *const *args, Py_ssize_t count)``; `self` is a bytes object with
`INFO`, followed by the dtypes of the arguments. The arguments are a tuple of all inputs, and a tuple of all outputs (or
the only output). The function returns a new reference to the outputs, or None if it declines."""

INFO = (
    ("loop", "ptr"),
    ("cell", "ptr"),  # of the kernel: the address of its plan
    ("passed", "ptr"),  # the last argument of the loop
    ("array", "ptr"),  # the type of arrays
    ("float", "ptr"),  # Python's
    ("double", "ptr"),  # NumPy's
    ("float64", "ptr"),  # its dtype
    ("tuple", "ptr"),  # the type
    ("none", "ptr"),
    ("keep", "ptr"),  # functions of Python: Py_IncRef, Py_DecRef
    ("drop", "ptr"),
    ("list", "ptr"),  # PySequence_List
    ("release", "ptr"),  # PyEval_SaveThread, PyEval_RestoreThread
    ("acquire", "ptr"),
    ("many", "i64"),  # number of elements from which the GIL is released
)


_OBJECT_FIELDS = (
    "type",
    "float",
    "double",
    "size",
    "items",
    "bytes",
    "data",
    "nd",
    "shape",
    "strides",
    "descr",
    "flags",
)
"""Fields of Python's and NumPy's objects that the stub reads."""

_MAX_SAVED_BYTES = 2**14
"""At most so many bytes of inputs are saved on the stack for the last vector."""

_ENTRY = """\
define ptr @direct.call(ptr %self, ptr %args, i64 %count) #0 {
entry:
  %info = getelementptr i8, ptr %self, i64 ${bytes}
${fields}
  %descrs = getelementptr i64, ptr %info, i64 ${descrs}
  %plan = load atomic ptr, ptr %cell acquire, align 8
${plan}
  %two = icmp eq i64 %count, 2
  br i1 %two, label %given, label %decline
given:
  %inputs = load ptr, ptr %args
  %inputs.type.at = getelementptr i8, ptr %inputs, i64 ${type}
  %inputs.type = load ptr, ptr %inputs.type.at
  %inputs.tupled = icmp eq ptr %inputs.type, %tuple
  br i1 %inputs.tupled, label %count.inputs, label %decline
count.inputs:
  %inputs.size.at = getelementptr i8, ptr %inputs, i64 ${size}
  %inputs.size = load i64, ptr %inputs.size.at
  %in.items = getelementptr i8, ptr %inputs, i64 ${items}
  %out.at = getelementptr ptr, ptr %args, i64 1
  %out = load ptr, ptr %out.at
  %out.type.at = getelementptr i8, ptr %out, i64 ${type}
  %out.type = load ptr, ptr %out.type.at
  %out.tupled = icmp eq ptr %out.type, %tuple
  br i1 %out.tupled, label %count.outputs, label %counted
count.outputs:
  %out.size.at = getelementptr i8, ptr %out, i64 ${size}
  %out.size = load i64, ptr %out.size.at
  %out.first = getelementptr i8, ptr %out, i64 ${items}
  br label %counted
counted:
  %out.count = phi i64 [ 1, %count.inputs ], [ %out.size, %count.outputs ]
  %out.items = phi ptr [ %out.at, %count.inputs ], [ %out.first, %count.outputs ]
  %nout = sub i64 %nargs, %nin
  %in.all = icmp eq i64 %inputs.size, %nin
  %out.all = icmp eq i64 %out.count, %nout
  %all = and i1 %in.all, %out.all
  br i1 %all, label %tables, label %decline
tables:
  %places = alloca ptr, i64 %nargs
  %steps = alloca i64, i64 %nargs
  %dimension = alloca i64
  %minus.nin = sub i64 0, %nin
  %items.of.outputs = getelementptr ptr, ptr %out.items, i64 %minus.nin
  br label %argument
"""

# An array of one axis may have any stride. An output for which NumPy warns about writes is declined. Usually an output
# is above or below all inputs and earlier outputs in memory; then it overlaps nothing (`clear`).
_ARGUMENT = """
argument:
  %k = phi i64 [ 0, %tables ], [ %k.next, %taken ]
  %first = phi ptr [ null, %tables ], [ %first.next, %taken ]
  %n = phi i64 [ 0, %tables ], [ %n.next, %taken ]
  %vectors = phi i1 [ true, %tables ], [ %vectors.next, %taken ]
  %clear = phi i1 [ true, %tables ], [ %clear.next, %taken ]
  %in.low = phi i64 [ -1, %tables ], [ %in.low.next, %taken ]
  %in.high = phi i64 [ 0, %tables ], [ %in.high.next, %taken ]
  %out.low = phi i64 [ -1, %tables ], [ %out.low.next, %taken ]
  %out.high = phi i64 [ 0, %tables ], [ %out.high.next, %taken ]
  %input = icmp slt i64 %k, %nin
  %items = select i1 %input, ptr %in.items, ptr %items.of.outputs
  %object.at = getelementptr ptr, ptr %items, i64 %k
  %object = load ptr, ptr %object.at
  %descr.at = getelementptr ptr, ptr %descrs, i64 %k
  %descr.wanted = load ptr, ptr %descr.at, align 1
  %type.at = getelementptr i8, ptr %object, i64 ${type}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %array
  br i1 %is.array, label %fields, label %scalar

scalar:
  %is.float = icmp eq ptr %type, %float
  %is.double = icmp eq ptr %type, %double
  %is.number = or i1 %is.float, %is.double
  %of.doubles = icmp eq ptr %descr.wanted, %float64
  %readable = and i1 %is.number, %of.doubles
  %number = and i1 %readable, %input
  %value.shift = select i1 %is.float, i64 ${float}, i64 ${double}
  %value = getelementptr i8, ptr %object, i64 %value.shift
  br i1 %number, label %taken, label %decline

fields:
  %data.at = getelementptr i8, ptr %object, i64 ${data}
  %data = load ptr, ptr %data.at
  %nd.at = getelementptr i8, ptr %object, i64 ${nd}
  %nd = load i32, ptr %nd.at
  %shape.at = getelementptr i8, ptr %object, i64 ${shape}
  %shape = load ptr, ptr %shape.at
  %descr.place = getelementptr i8, ptr %object, i64 ${descr}
  %descr = load ptr, ptr %descr.place
  %flags.at = getelementptr i8, ptr %object, i64 ${flags}
  %flags = load i32, ptr %flags.at
  %size.at = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size.at
  %wanted = select i1 %input, i32 ${to.read}, i32 ${to.write}
  %had = and i32 %flags, %wanted
  %plain = icmp eq i32 %had, %wanted
  %same.descr = icmp eq ptr %descr, %descr.wanted
  %deep = icmp sgt i32 %nd, 0
  %one.axis = icmp eq i32 %nd, 1
  %dense.flag = and i32 %flags, ${contiguous}
  %dense = icmp ne i32 %dense.flag, 0
  %regular = or i1 %dense, %one.axis
  %placed = and i1 %plain, %regular
  %ok = and i1 %placed, %same.descr
  %warned = and i32 %flags, ${warns}
  %silent = icmp eq i32 %warned, 0
  %quiet = or i1 %input, %silent
  %usual = and i1 %ok, %quiet
  %fine = and i1 %usual, %deep
  br i1 %fine, label %stride, label %decline
stride:
  %strides.at = getelementptr i8, ptr %object, i64 ${strides}
  %strides = load ptr, ptr %strides.at
  %stride.given = load i64, ptr %strides
  %stride.taken = select i1 %dense, i64 %size, i64 %stride.given
  %stride.back = sub i64 0, %stride.taken
  %backwards = icmp slt i64 %stride.taken, 0
  %distance = select i1 %backwards, i64 %stride.back, i64 %stride.taken
  %apart.all = icmp sge i64 %distance, %size
  %separate = or i1 %input, %apart.all
  br i1 %separate, label %compare, label %decline
compare:
  %is.first = icmp eq ptr %first, null
  br i1 %is.first, label %multiply, label %ranks
multiply:
  %m = phi i32 [ 0, %compare ], [ %m.next, %multiply ]
  %so.far = phi i64 [ 1, %compare ], [ %product, %multiply ]
  %m.wide = zext i32 %m to i64
  %l.at = getelementptr i64, ptr %shape, i64 %m.wide
  %l = load i64, ptr %l.at
  %product = mul i64 %so.far, %l
  %m.next = add i32 %m, 1
  %m.more = icmp slt i32 %m.next, %nd
  br i1 %m.more, label %multiply, label %interval
ranks:
  %first.nd.at = getelementptr i8, ptr %first, i64 ${nd}
  %first.nd = load i32, ptr %first.nd.at
  %first.shape.at = getelementptr i8, ptr %first, i64 ${shape}
  %first.shape = load ptr, ptr %first.shape.at
  %same.rank = icmp eq i32 %nd, %first.nd
  br i1 %same.rank, label %axis, label %decline
axis:
  %d = phi i32 [ 0, %ranks ], [ %d.next, %axis.same ]
  %d.wide = zext i32 %d to i64
  %length.at = getelementptr i64, ptr %shape, i64 %d.wide
  %length = load i64, ptr %length.at
  %first.length.at = getelementptr i64, ptr %first.shape, i64 %d.wide
  %first.length = load i64, ptr %first.length.at
  %same.length = icmp eq i64 %length, %first.length
  br i1 %same.length, label %axis.same, label %decline
axis.same:
  %d.next = add i32 %d, 1
  %d.more = icmp slt i32 %d.next, %nd
  br i1 %d.more, label %axis, label %interval

interval:
  %n.here = phi i64 [ %product, %multiply ], [ %n, %axis.same ]
  %first.here = phi ptr [ %object, %multiply ], [ %first, %axis.same ]
  %still = icmp eq i64 %stride.taken, 0
  %in.line = icmp eq i64 %stride.taken, %size
  %loads = or i1 %in.line, %still
  %vectors.here = and i1 %vectors, %loads
  %begin.word = ptrtoint ptr %data to i64
  %less.one = sub i64 %n.here, 1
  %span = mul i64 %stride.taken, %less.one
  %last = add i64 %begin.word, %span
  %begin = call i64 @llvm.umin.i64(i64 %begin.word, i64 %last)
  %highest = call i64 @llvm.umax.i64(i64 %begin.word, i64 %last)
  %end = add i64 %highest, %size
  br i1 %input, label %taken.input, label %taken.output
taken.input:
  %in.lower = call i64 @llvm.umin.i64(i64 %in.low, i64 %begin)
  %in.higher = call i64 @llvm.umax.i64(i64 %in.high, i64 %end)
  br label %taken
taken.output:
  %above.in = icmp uge i64 %begin, %in.high
  %below.in = icmp ule i64 %end, %in.low
  %beside.in = or i1 %above.in, %below.in
  %above.out = icmp uge i64 %begin, %out.high
  %below.out = icmp ule i64 %end, %out.low
  %beside.out = or i1 %above.out, %below.out
  %beside = and i1 %beside.in, %beside.out
  %clear.here = and i1 %clear, %beside
  %out.lower = call i64 @llvm.umin.i64(i64 %out.low, i64 %begin)
  %out.higher = call i64 @llvm.umax.i64(i64 %out.high, i64 %end)
  br label %taken

taken:
  %place = phi ptr [ %value, %scalar ], [ %data, %taken.input ], [ %data, %taken.output ]
  %step = phi i64 [ 0, %scalar ], [ %stride.taken, %taken.input ], [ %stride.taken, %taken.output ]
  %first.next = phi ptr [ %first, %scalar ], [ %first.here, %taken.input ], [ %first.here, %taken.output ]
  %n.next = phi i64 [ %n, %scalar ], [ %n.here, %taken.input ], [ %n.here, %taken.output ]
  %vectors.next = phi i1 [ %vectors, %scalar ], [ %vectors.here, %taken.input ], [ %vectors.here, %taken.output ]
  %clear.next = phi i1 [ %clear, %scalar ], [ %clear, %taken.input ], [ %clear.here, %taken.output ]
  %in.low.next = phi i64 [ %in.low, %scalar ], [ %in.lower, %taken.input ], [ %in.low, %taken.output ]
  %in.high.next = phi i64 [ %in.high, %scalar ], [ %in.higher, %taken.input ], [ %in.high, %taken.output ]
  %out.low.next = phi i64 [ %out.low, %scalar ], [ %out.low, %taken.input ], [ %out.lower, %taken.output ]
  %out.high.next = phi i64 [ %out.high, %scalar ], [ %out.high, %taken.input ], [ %out.higher, %taken.output ]
  %place.at = getelementptr ptr, ptr %places, i64 %k
  store ptr %place, ptr %place.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  store i64 %step, ptr %step.at
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %argument, label %counted.elements
counted.elements:
  %some = icmp ne ptr %first.next, null
  br i1 %some, label %overlaps, label %decline
overlaps:
  br i1 %clear.next, label %run, label %closely
closely:
  %lapped = call i1 @direct.overlap(ptr %places, ptr %steps, ptr %sizes, i64 %n.next, i64 %nin, i64 %nargs)
  br i1 %lapped, label %decline, label %run
"""

# The elements after the last whole vector are computed as one vector of the last elements, some of which are computed
# a second time. Their inputs are saved first, because an output may be an input. The loop itself would gather these
# elements into buffers, which for thirty arguments takes as long as eighty elements.
_RUN = """
run:
  %width.less.one = sub i64 %width, 1
  %over = and i64 %n.next, %width.less.one
  %whole = sub i64 %n.next, %over
  %uneven = icmp ne i64 %over, 0
  %enough = icmp ne i64 %whole, 0
  %vector.bytes = mul i64 %width, 8
  %saved.bytes = mul i64 %vector.bytes, %nin
  %small = icmp ule i64 %saved.bytes, ${saved}
  %left = and i1 %uneven, %enough
  %aligned = and i1 %vectors.next, %small
  %again = and i1 %left, %aligned
  %n.first = select i1 %again, i64 %whole, i64 %n.next
  store i64 %n.first, ptr %dimension
  %long = icmp sge i64 %n.next, %many
  %lasts = alloca ptr, i64 %nargs
  br i1 %again, label %save, label %locked
save:
  %saved = alloca i8, i64 %saved.bytes, align 64
  %from = sub i64 %n.next, %width
  br label %last.argument
last.argument:
  %v = phi i64 [ 0, %save ], [ %v.next, %last.known ]
  %v.step.at = getelementptr i64, ptr %steps, i64 %v
  %v.step = load i64, ptr %v.step.at
  %v.place.at = getelementptr ptr, ptr %places, i64 %v
  %v.place = load ptr, ptr %v.place.at
  %v.shift = mul i64 %v.step, %from
  %v.last = getelementptr i8, ptr %v.place, i64 %v.shift
  %v.input = icmp slt i64 %v, %nin
  %v.moves = icmp ne i64 %v.step, 0
  %v.saved = and i1 %v.input, %v.moves
  br i1 %v.saved, label %copy, label %last.known
copy:
  %v.offset = mul i64 %v, %vector.bytes
  %v.buffer = getelementptr i8, ptr %saved, i64 %v.offset
  %v.bytes = mul i64 %width, %v.step
  call void @llvm.memcpy.p0.p0.i64(ptr %v.buffer, ptr %v.last, i64 %v.bytes, i1 false)
  br label %last.known
last.known:
  %v.from = phi ptr [ %v.last, %last.argument ], [ %v.buffer, %copy ]
  %v.at = getelementptr ptr, ptr %lasts, i64 %v
  store ptr %v.from, ptr %v.at
  %v.next = add i64 %v, 1
  %v.more = icmp slt i64 %v.next, %nargs
  br i1 %v.more, label %last.argument, label %locked

locked:
  br i1 %long, label %unlock, label %compute
unlock:
  br i1 %out.tupled, label %hold, label %unlocked
hold:
  %list.held = call ptr %list(ptr %out)
  %held.any = icmp ne ptr %list.held, null
  br i1 %held.any, label %unlocked, label %exhausted
unlocked:
  %held = phi ptr [ null, %unlock ], [ %list.held, %hold ]
  %thread = call ptr %release()
  br label %compute
compute:
  %state = phi ptr [ null, %locked ], [ %thread, %unlocked ]
  %holding = phi ptr [ null, %locked ], [ %held, %unlocked ]
  call void %loop(ptr %places, ptr %dimension, ptr %steps, ptr %passed)
  br i1 %again, label %compute.last, label %computed
compute.last:
  store i64 %width, ptr %dimension
  call void %loop(ptr %lasts, ptr %dimension, ptr %steps, ptr %passed)
  br label %computed
computed:
  br i1 %long, label %lock, label %finish
lock:
  call void %acquire(ptr %state)
  call void %drop(ptr %holding)
  br label %finish
finish:
  %one.output = icmp eq i64 %nout, 1
  br i1 %one.output, label %only, label %returned
only:
  %the.output = load ptr, ptr %out.items
  br label %returned
returned:
  %result = phi ptr [ %out, %finish ], [ %the.output, %only ]
  call void %keep(ptr %result)
  ret ptr %result
decline:
  call void %keep(ptr %none)
  ret ptr %none
exhausted:
  ret ptr null
}

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def module_text() -> str:
    """Return the module, for the layout of objects in `object_layout.py`."""
    parts = {
        "fields": load_fields("%info", INFO),
        "descrs": len(INFO),
        "plan": load_fields("%plan", FIELDS, {"nargs", "nin", "width", "sizes"}),
        **{name: OBJECT_FIELDS[name].at for name in _OBJECT_FIELDS},
        "contiguous": C_CONTIGUOUS,
        "to.read": ALIGNED,
        "to.write": ALIGNED | WRITEABLE,
        "warns": WARN_ON_WRITE,
        "saved": _MAX_SAVED_BYTES,
    }
    return fill_template(_ENTRY + _ARGUMENT + _RUN, parts) + OVERLAP + ATTRIBUTES
