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
from symgrad.compiler.llvm.call_stubs.overlap_check import OVERLAP, SPAN
from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.scratch_memory import SCRATCH, SCRATCH_DECLARATIONS
from symgrad.compiler.llvm.text.templates import fill_template, load_fields, store_fields

CALL = "direct.call"
"""The function: ``PyObject *(PyObject *self, PyObject *const *args, Py_ssize_t count)``; `self` is a bytes object with
`INFO`, followed by the `RECORD` of every value: inputs, then outputs. The arguments are a tuple of all inputs, and a
tuple of all outputs (or the only output); a third argument says that the outputs are new arrays, which overlap nothing.
The function returns a new reference to the outputs, or None if it declines."""

INFO = (
    ("loop", "ptr"),
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
    ("inputs", "i64"),  # the number of inputs, and of inputs and outputs
    ("values", "i64"),
)

RECORD = (("descr.wanted", "ptr"), ("size", "i64"))
"""The dtype of a value, and the bytes of an element."""

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

_ENTRY = """\
define ptr @direct.call(ptr %self, ptr %args, i64 %count) #0 {
entry:
  %info = getelementptr i8, ptr %self, i64 ${bytes}
${fields}
  %records = getelementptr i64, ptr %info, i64 ${records}
  %new = icmp eq i64 %count, 3
  %two = icmp eq i64 %count, 2
  %counted.args = or i1 %two, %new
  br i1 %counted.args, label %given, label %decline
given:
  %in = load ptr, ptr %args
  %in.type.at = getelementptr i8, ptr %in, i64 ${type}
  %in.type = load ptr, ptr %in.type.at
  %in.tupled = icmp eq ptr %in.type, %tuple
  br i1 %in.tupled, label %count.inputs, label %decline
count.inputs:
  %in.size.at = getelementptr i8, ptr %in, i64 ${size}
  %in.size = load i64, ptr %in.size.at
  %in.items = getelementptr i8, ptr %in, i64 ${items}
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
  %outputs = sub i64 %values, %inputs
  %in.all = icmp eq i64 %in.size, %inputs
  %out.all = icmp eq i64 %out.count, %outputs
  %all = and i1 %in.all, %out.all
  br i1 %all, label %tables, label %decline
tables:
  %dimension = alloca i64
  %table = mul i64 %values, 8
  %tables.size = mul i64 %values, 16
  %spans.size = mul i64 %values, 40
  %scratch.size = add i64 %tables.size, %spans.size
${scratch}  %places = getelementptr i8, ptr %scratch, i64 0
  %steps = getelementptr i8, ptr %places, i64 %table
  %spans = getelementptr i8, ptr %scratch, i64 %tables.size
  %order = getelementptr { i64, i64, i64, i64 }, ptr %spans, i64 %values
  %minus.inputs = sub i64 0, %inputs
  %items.of.outputs = getelementptr ptr, ptr %out.items, i64 %minus.inputs
  br label %value
"""

# An array of one axis may have any stride. An output for which NumPy warns about writes is declined.
# Usually an output is above or below all inputs and earlier outputs in memory; then it overlaps nothing (`clear`).
_VALUE = """
value:
  %v = phi i64 [ 0, %scratch.ready ], [ %v.next, %taken ]
  %first = phi ptr [ null, %scratch.ready ], [ %first.next, %taken ]
  %first.nd = phi i64 [ 0, %scratch.ready ], [ %first.nd.next, %taken ]
  %n = phi i64 [ 0, %scratch.ready ], [ %n.next, %taken ]
  %clear = phi i1 [ true, %scratch.ready ], [ %clear.next, %taken ]
  %in.low = phi i64 [ -1, %scratch.ready ], [ %in.low.next, %taken ]
  %in.high = phi i64 [ 0, %scratch.ready ], [ %in.high.next, %taken ]
  %out.low = phi i64 [ -1, %scratch.ready ], [ %out.low.next, %taken ]
  %out.high = phi i64 [ 0, %scratch.ready ], [ %out.high.next, %taken ]
  %input = icmp slt i64 %v, %inputs
  %items = select i1 %input, ptr %in.items, ptr %items.of.outputs
  %object.at = getelementptr ptr, ptr %items, i64 %v
  %object = load ptr, ptr %object.at
  %record = getelementptr [${record.words} x i64], ptr %records, i64 %v
${record}
  %span = getelementptr { i64, i64, i64, i64 }, ptr %spans, i64 %v
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
  %number.at = getelementptr i8, ptr %object, i64 %value.shift
  br i1 %number, label %taken, label %leave

fields:
  %data.at = getelementptr i8, ptr %object, i64 ${data}
  %data = load ptr, ptr %data.at
  %nd.at = getelementptr i8, ptr %object, i64 ${nd}
  %nd.short = load i32, ptr %nd.at
  %nd = zext i32 %nd.short to i64
  %shape.at = getelementptr i8, ptr %object, i64 ${shape}
  %shape = load ptr, ptr %shape.at
  %descr.place = getelementptr i8, ptr %object, i64 ${descr}
  %descr = load ptr, ptr %descr.place
  %flags.at = getelementptr i8, ptr %object, i64 ${flags}
  %flags = load i32, ptr %flags.at
  %wanted = select i1 %input, i32 ${to.read}, i32 ${to.write}
  %had = and i32 %flags, %wanted
  %plain = icmp eq i32 %had, %wanted
  %same.descr = icmp eq ptr %descr, %descr.wanted
  %one.axis = icmp eq i64 %nd, 1
  %dense.flag = and i32 %flags, ${contiguous}
  %dense = icmp ne i32 %dense.flag, 0
  %regular = or i1 %dense, %one.axis
  %ready = and i1 %plain, %regular
  %ok = and i1 %ready, %same.descr
  %warned = and i32 %flags, ${warns}
  %silent = icmp eq i32 %warned, 0
  %quiet = or i1 %input, %silent
  %usual = and i1 %ok, %quiet
  br i1 %usual, label %stride, label %leave
stride:
  %single = icmp eq i64 %nd, 0
  %still.input = and i1 %single, %input
  br i1 %still.input, label %interval, label %stride.known
stride.known:
  %stride.dense = select i1 %single, i64 0, i64 %size
  br i1 %dense, label %compare, label %stride.read
stride.read:
  %strides.at = getelementptr i8, ptr %object, i64 ${strides}
  %strides = load ptr, ptr %strides.at
  %stride.given = load i64, ptr %strides
  %stride.back = sub i64 0, %stride.given
  %backwards = icmp slt i64 %stride.given, 0
  %distance = select i1 %backwards, i64 %stride.back, i64 %stride.given
  %apart.all = icmp sge i64 %distance, %size
  %separate = or i1 %input, %apart.all
  br i1 %separate, label %compare, label %leave
compare:
  %stride.own = phi i64 [ %stride.dense, %stride.known ], [ %stride.given, %stride.read ]
  %is.first = icmp eq ptr %first, null
  br i1 %is.first, label %multiply, label %ranks
multiply:
  %m = phi i64 [ 0, %compare ], [ %m.next, %multiply.axis ]
  %product = phi i64 [ 1, %compare ], [ %product.next, %multiply.axis ]
  %m.more = icmp slt i64 %m, %nd
  br i1 %m.more, label %multiply.axis, label %interval
multiply.axis:
  %l.at = getelementptr i64, ptr %shape, i64 %m
  %l = load i64, ptr %l.at
  %product.next = mul i64 %product, %l
  %m.next = add i64 %m, 1
  br label %multiply
ranks:
  %first.shape.at = getelementptr i8, ptr %first, i64 ${shape}
  %first.shape = load ptr, ptr %first.shape.at
  %same.rank = icmp eq i64 %nd, %first.nd
  br i1 %same.rank, label %axis, label %leave
axis:
  %d = phi i64 [ 0, %ranks ], [ %d.next, %axis.lengths ]
  %d.more = icmp slt i64 %d, %nd
  br i1 %d.more, label %axis.lengths, label %interval
axis.lengths:
  %length.at = getelementptr i64, ptr %shape, i64 %d
  %length = load i64, ptr %length.at
  %first.length.at = getelementptr i64, ptr %first.shape, i64 %d
  %first.length = load i64, ptr %first.length.at
  %d.next = add i64 %d, 1
  %same.length = icmp eq i64 %length, %first.length
  br i1 %same.length, label %axis, label %leave

interval:
  %n.here = phi i64 [ %n, %stride ], [ %product, %multiply ], [ %n, %axis ]
  %first.here = phi ptr [ %first, %stride ], [ %object, %multiply ], [ %first, %axis ]
  %nd.here = phi i64 [ %first.nd, %stride ], [ %nd, %multiply ], [ %first.nd, %axis ]
  %stride.taken = phi i64 [ 0, %stride ], [ %stride.own, %multiply ], [ %stride.own, %axis ]
  %begin.word = ptrtoint ptr %data to i64
  %less.one = sub i64 %n.here, 1
  %reach = mul i64 %stride.taken, %less.one
  %last = add i64 %begin.word, %reach
  %begin.here = call i64 @llvm.umin.i64(i64 %begin.word, i64 %last)
  %highest = call i64 @llvm.umax.i64(i64 %begin.word, i64 %last)
  %end.here = add i64 %highest, %size
  br i1 %input, label %taken.input, label %taken.output
taken.input:
  %in.lower = call i64 @llvm.umin.i64(i64 %in.low, i64 %begin.here)
  %in.higher = call i64 @llvm.umax.i64(i64 %in.high, i64 %end.here)
  br label %taken
taken.output:
  %above.in = icmp uge i64 %begin.here, %in.high
  %below.in = icmp ule i64 %end.here, %in.low
  %beside.in = or i1 %above.in, %below.in
  %above.out = icmp uge i64 %begin.here, %out.high
  %below.out = icmp ule i64 %end.here, %out.low
  %beside.out = or i1 %above.out, %below.out
  %beside = and i1 %beside.in, %beside.out
  %beside.all = and i1 %clear, %beside
  %clear.here = or i1 %new, %beside.all
  %out.lower = call i64 @llvm.umin.i64(i64 %out.low, i64 %begin.here)
  %out.higher = call i64 @llvm.umax.i64(i64 %out.high, i64 %end.here)
  br label %taken

taken:
  %base = phi ptr [ %number.at, %scalar ], [ %data, %taken.input ], [ %data, %taken.output ]
  %step = phi i64 [ 0, %scalar ], [ %stride.taken, %taken.input ], [ %stride.taken, %taken.output ]
  %begin = phi i64 [ 0, %scalar ], [ %begin.here, %taken.input ], [ %begin.here, %taken.output ]
  %end = phi i64 [ 0, %scalar ], [ %end.here, %taken.input ], [ %end.here, %taken.output ]
  %first.next = phi ptr [ %first, %scalar ], [ %first.here, %taken.input ], [ %first.here, %taken.output ]
  %first.nd.next = phi i64 [ %first.nd, %scalar ], [ %nd.here, %taken.input ], [ %nd.here, %taken.output ]
  %n.next = phi i64 [ %n, %scalar ], [ %n.here, %taken.input ], [ %n.here, %taken.output ]
  %clear.next = phi i1 [ %clear, %scalar ], [ %clear, %taken.input ], [ %clear.here, %taken.output ]
  %in.low.next = phi i64 [ %in.low, %scalar ], [ %in.lower, %taken.input ], [ %in.low, %taken.output ]
  %in.high.next = phi i64 [ %in.high, %scalar ], [ %in.higher, %taken.input ], [ %in.high, %taken.output ]
  %out.low.next = phi i64 [ %out.low, %scalar ], [ %out.low, %taken.input ], [ %out.lower, %taken.output ]
  %out.high.next = phi i64 [ %out.high, %scalar ], [ %out.high, %taken.input ], [ %out.higher, %taken.output ]
${span}
  %place.at = getelementptr ptr, ptr %places, i64 %v
  store ptr %base, ptr %place.at
  %step.at = getelementptr i64, ptr %steps, i64 %v
  store i64 %step, ptr %step.at
  %v.next = add i64 %v, 1
  %v.more = icmp slt i64 %v.next, %values
  br i1 %v.more, label %value, label %counted.elements
counted.elements:
  %some = icmp ne ptr %first.next, null
  br i1 %some, label %overlaps, label %leave
overlaps:
  br i1 %clear.next, label %run, label %closely
closely:
  %lapped = call i1 @direct.overlap(ptr %spans, ptr %order, i64 %inputs, i64 %values)
  br i1 %lapped, label %leave, label %run
"""

_RUN = """
run:
  store i64 %n.next, ptr %dimension
  %long = icmp sge i64 %n.next, %many
  br i1 %long, label %unlock, label %compute
unlock:
  br i1 %out.tupled, label %hold, label %unlocked
hold:
  %list.held = call ptr %list(ptr %out)
  %held.any = icmp ne ptr %list.held, null
  br i1 %held.any, label %unlocked, label %freed
unlocked:
  %held = phi ptr [ null, %unlock ], [ %list.held, %hold ]
  %thread = call ptr %release()
  br label %compute
compute:
  %state = phi ptr [ null, %run ], [ %thread, %unlocked ]
  %holding = phi ptr [ null, %run ], [ %held, %unlocked ]
  call void %loop(ptr %places, ptr %dimension, ptr %steps, ptr %passed)
  br i1 %long, label %lock, label %finish
lock:
  call void %acquire(ptr %state)
  call void %drop(ptr %holding)
  br label %finish
finish:
  %one.output = icmp eq i64 %outputs, 1
  br i1 %one.output, label %only, label %returned
only:
  %the.output = load ptr, ptr %out.items
  br label %returned
returned:
  %result = phi ptr [ %out, %finish ], [ %the.output, %only ]
  call void %keep(ptr %result)
  br label %freed
freed:
  %answer = phi ptr [ null, %hold ], [ %result, %returned ]
  call void @free(ptr %heap)
  ret ptr %answer
leave:
  call void @free(ptr %heap)
  br label %decline
exhausted:
  br label %decline
decline:
  call void %keep(ptr %none)
  ret ptr %none
}

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
"""


def module_text() -> str:
    """Return the module, for the layout of objects in `object_layout.py`."""
    parts = {
        "fields": load_fields("%info", INFO),
        "records": len(INFO),
        "record": load_fields("%record", RECORD),
        "record.words": len(RECORD),
        "span": store_fields("%span", SPAN),
        "scratch": SCRATCH,
        **{name: OBJECT_FIELDS[name].at for name in _OBJECT_FIELDS},
        "contiguous": C_CONTIGUOUS,
        "to.read": ALIGNED,
        "to.write": ALIGNED | WRITEABLE,
        "warns": WARN_ON_WRITE,
    }
    return fill_template(_ENTRY + _VALUE + _RUN, parts) + OVERLAP + SCRATCH_DECLARATIONS + ATTRIBUTES
