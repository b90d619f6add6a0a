"""The machine code of direct calls: Python's objects in, the inner loop run, no NumPy machinery between.

A ufunc takes about 0.15 us for each of its arguments before it computes anything, which for a formula with twenty
derivatives at a thousand points is as long as computing them. The code here reads the arrays' own fields, as any
compiled extension does, and declines whatever is not plain: then the ufunc is called as ever.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.llvm.loop import FIELDS
from symgrad.llvm.module_text import ATTRIBUTES, load_fields

__all__ = ["CALL", "INFO", "Layout", "text"]

CALL = "direct.call"
"""The function: ``PyObject *(PyObject *self, PyObject *const *args, Py_ssize_t count)``; `self` is a bytes object with
`INFO`, and behind it the dtypes of the arguments."""

INFO = (
    ("loop", "ptr"),
    ("cell", "ptr"),  # the kernel's own: where its plan is
    ("passed", "ptr"),  # what the loop is passed as its last argument
    ("array", "ptr"),  # the type of arrays
    ("float", "ptr"),  # Python's
    ("double", "ptr"),  # NumPy's
    ("float64", "ptr"),  # its dtype
    ("done", "ptr"),  # what is returned
    ("declined", "ptr"),
    ("keep", "ptr"),  # functions of Python: Py_IncRef, PyEval_SaveThread, PyEval_RestoreThread
    ("release", "ptr"),
    ("acquire", "ptr"),
    ("many", "i64"),  # elements from which on the interpreter's lock is released
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where fields of Python's and NumPy's objects are, in bytes from their beginning.

    Args:
        type: of any object.
        value: of a float, and of a NumPy scalar.
        bytes: the content of bytes.
        data: of an array, its other fields following in the order of NumPy's header.
    """

    type: int
    value: int
    bytes: int
    data: int


# Flags of arrays: 1 C-contiguous, 256 aligned, 1024 writeable; the sign bit: NumPy warns of a write. An array of one
# axis may have any stride. An output may be an input (every element is read before it is written); any other overlap is
# for NumPy, which makes copies.
_CODE = """\
define ptr @direct.call(ptr %self, ptr %args, i64 %count) #0 {
entry:
  %info = getelementptr i8, ptr %self, i64 {bytes}
{fields}
  %descrs = getelementptr i64, ptr %info, i64 {descrs}
  %plan = load atomic ptr, ptr %cell acquire, align 8
{plan}
  %all = icmp eq i64 %count, %nargs
  br i1 %all, label %tables, label %decline
tables:
  %places = alloca ptr, i64 %nargs
  %steps = alloca i64, i64 %nargs
  %dimension = alloca i64
  %nargs.up = add i64 %nargs, 7
  %table = and i64 %nargs.up, -8
  %begins = alloca i64, i64 %table
  %ends = alloca i64, i64 %table
  br label %argument

argument:
  %k = phi i64 [ 0, %tables ], [ %k.next, %taken ]
  %first = phi ptr [ null, %tables ], [ %first.next, %taken ]
  %object.at = getelementptr ptr, ptr %args, i64 %k
  %object = load ptr, ptr %object.at
  %descr.at = getelementptr ptr, ptr %descrs, i64 %k
  %descr.wanted = load ptr, ptr %descr.at, align 1
  %type.at = getelementptr i8, ptr %object, i64 {type}
  %type = load ptr, ptr %type.at
  %input = icmp slt i64 %k, %nin
  %is.array = icmp eq ptr %type, %array
  br i1 %is.array, label %fields, label %scalar

scalar:
  %is.float = icmp eq ptr %type, %float
  %is.double = icmp eq ptr %type, %double
  %is.number = or i1 %is.float, %is.double
  %of.doubles = icmp eq ptr %descr.wanted, %float64
  %readable = and i1 %is.number, %of.doubles
  %number = and i1 %readable, %input
  %value = getelementptr i8, ptr %object, i64 {value}
  br i1 %number, label %taken, label %decline

fields:
  %data.at = getelementptr i8, ptr %object, i64 {data}
  %data = load ptr, ptr %data.at
  %nd.at = getelementptr i8, ptr %data.at, i64 8
  %nd = load i32, ptr %nd.at
  %shape.at = getelementptr i8, ptr %data.at, i64 16
  %shape = load ptr, ptr %shape.at
  %descr.place = getelementptr i8, ptr %data.at, i64 40
  %descr = load ptr, ptr %descr.place
  %flags.at = getelementptr i8, ptr %data.at, i64 48
  %flags = load i32, ptr %flags.at
  %size.at = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size.at
  %wanted = select i1 %input, i32 256, i32 1280
  %had = and i32 %flags, %wanted
  %plain = icmp eq i32 %had, %wanted
  %same.descr = icmp eq ptr %descr, %descr.wanted
  %deep = icmp sgt i32 %nd, 0
  %one.axis = icmp eq i32 %nd, 1
  %dense.flag = and i32 %flags, 1
  %dense = icmp ne i32 %dense.flag, 0
  %regular = or i1 %dense, %one.axis
  %placed = and i1 %plain, %regular
  %ok = and i1 %placed, %same.descr
  %silent = icmp sge i32 %flags, 0
  %quiet = or i1 %input, %silent
  %usual = and i1 %ok, %quiet
  %fine = and i1 %usual, %deep
  br i1 %fine, label %stride, label %decline
stride:
  %strides.at = getelementptr i8, ptr %data.at, i64 24
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
  br i1 %is.first, label %taken, label %ranks
ranks:
  %first.nd.at = getelementptr i8, ptr %first, i64 {nd}
  %first.nd = load i32, ptr %first.nd.at
  %first.shape.at = getelementptr i8, ptr %first, i64 {shape}
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
  br i1 %d.more, label %axis, label %taken

taken:
  %place = phi ptr [ %value, %scalar ], [ %data, %compare ], [ %data, %axis.same ]
  %step = phi i64 [ 0, %scalar ], [ %stride.taken, %compare ], [ %stride.taken, %axis.same ]
  %first.next = phi ptr [ %first, %scalar ], [ %object, %compare ], [ %first, %axis.same ]
  %place.at = getelementptr ptr, ptr %places, i64 %k
  store ptr %place, ptr %place.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  store i64 %step, ptr %step.at
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %argument, label %count.elements

count.elements:
  %some = icmp ne ptr %first.next, null
  br i1 %some, label %measure, label %decline
measure:
  %rank.at = getelementptr i8, ptr %first.next, i64 {nd}
  %rank = load i32, ptr %rank.at
  %lengths.at = getelementptr i8, ptr %first.next, i64 {shape}
  %lengths = load ptr, ptr %lengths.at
  br label %multiply
multiply:
  %m = phi i32 [ 0, %measure ], [ %m.next, %multiply ]
  %so.far = phi i64 [ 1, %measure ], [ %n, %multiply ]
  %m.wide = zext i32 %m to i64
  %l.at = getelementptr i64, ptr %lengths, i64 %m.wide
  %l = load i64, ptr %l.at
  %n = mul i64 %so.far, %l
  %m.next = add i32 %m, 1
  %m.more = icmp slt i32 %m.next, %rank
  br i1 %m.more, label %multiply, label %spread

spread:
  %s = phi i64 [ 0, %multiply ], [ %s.next, %spread ]
  %s.begin.at = getelementptr i64, ptr %begins, i64 %s
  store i64 0, ptr %s.begin.at
  %s.end.at = getelementptr i64, ptr %ends, i64 %s
  store i64 0, ptr %s.end.at
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %table
  br i1 %s.more, label %spread, label %place.test

place.test:
  %o = phi i64 [ 0, %spread ], [ %o.next, %noted ]
  %o.more = icmp slt i64 %o, %nargs
  br i1 %o.more, label %interval, label %run
interval:
  %o.place.at = getelementptr i64, ptr %places, i64 %o
  %o.place = load i64, ptr %o.place.at
  %o.step.at = getelementptr i64, ptr %steps, i64 %o
  %o.step = load i64, ptr %o.step.at
  %o.size.at = getelementptr i64, ptr %sizes, i64 %o
  %o.size = load i64, ptr %o.size.at
  %n.less.one = sub i64 %n, 1
  %o.span = mul i64 %o.step, %n.less.one
  %o.last = add i64 %o.place, %o.span
  %o.reversed = icmp slt i64 %o.span, 0
  %o.begin = select i1 %o.reversed, i64 %o.last, i64 %o.place
  %o.highest = select i1 %o.reversed, i64 %o.place, i64 %o.last
  %o.end = add i64 %o.highest, %o.size
  %o.input = icmp slt i64 %o, %nin
  br i1 %o.input, label %noted, label %output
output:
  %o.begin.one = insertelement <8 x i64> poison, i64 %o.begin, i32 0
  %o.begin.all = shufflevector <8 x i64> %o.begin.one, <8 x i64> poison, <8 x i32> zeroinitializer
  %o.end.one = insertelement <8 x i64> poison, i64 %o.end, i32 0
  %o.end.all = shufflevector <8 x i64> %o.end.one, <8 x i64> poison, <8 x i32> zeroinitializer
  br label %eight
eight:
  %e = phi i64 [ 0, %output ], [ %e.next, %eight.fine ]
  %e.begin.at = getelementptr i64, ptr %begins, i64 %e
  %e.begin = load <8 x i64>, ptr %e.begin.at, align 8
  %e.end.at = getelementptr i64, ptr %ends, i64 %e
  %e.end = load <8 x i64>, ptr %e.end.at, align 8
  %e.before = icmp ult <8 x i64> %e.begin, %o.end.all
  %e.after = icmp ult <8 x i64> %o.begin.all, %e.end
  %e.overlap = and <8 x i1> %e.before, %e.after
  %e.word = bitcast <8 x i1> %e.overlap to i8
  %e.any = icmp ne i8 %e.word, 0
  br i1 %e.any, label %closely, label %eight.fine
eight.fine:
  %e.next = add i64 %e, 8
  %e.more = icmp slt i64 %e.next, %o
  br i1 %e.more, label %eight, label %noted
closely:
  %j = phi i64 [ 0, %eight ], [ %j.next, %other.fine ]
  %j.begin.at = getelementptr i64, ptr %begins, i64 %j
  %j.begin = load i64, ptr %j.begin.at
  %j.end.at = getelementptr i64, ptr %ends, i64 %j
  %j.end = load i64, ptr %j.end.at
  %begins.before = icmp ult i64 %j.begin, %o.end
  %ends.after = icmp ult i64 %o.begin, %j.end
  %overlap = and i1 %begins.before, %ends.after
  %j.place.at = getelementptr i64, ptr %places, i64 %j
  %j.place = load i64, ptr %j.place.at
  %j.step.at = getelementptr i64, ptr %steps, i64 %j
  %j.step = load i64, ptr %j.step.at
  %same.place = icmp eq i64 %j.place, %o.place
  %same.step = icmp eq i64 %j.step, %o.step
  %j.input = icmp slt i64 %j, %nin
  %same = and i1 %same.place, %same.step
  %in.place = and i1 %same, %j.input
  %apart = xor i1 %overlap, true
  %harmless = or i1 %apart, %in.place
  br i1 %harmless, label %other.fine, label %decline
other.fine:
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %o
  br i1 %j.more, label %closely, label %noted
noted:
  %o.begin.at = getelementptr i64, ptr %begins, i64 %o
  store i64 %o.begin, ptr %o.begin.at
  %o.end.at = getelementptr i64, ptr %ends, i64 %o
  store i64 %o.end, ptr %o.end.at
  %o.next = add i64 %o, 1
  br label %place.test

run:
  store i64 %n, ptr %dimension
  %long = icmp sge i64 %n, %many
  br i1 %long, label %unlocked, label %locked
unlocked:
  %state = call ptr %release()
  call void %loop(ptr %places, ptr %dimension, ptr %steps, ptr %passed)
  call void %acquire(ptr %state)
  br label %finish
locked:
  call void %loop(ptr %places, ptr %dimension, ptr %steps, ptr %passed)
  br label %finish
finish:
  call void %keep(ptr %done)
  ret ptr %done
decline:
  call void %keep(ptr %declined)
  ret ptr %declined
}
"""


def text(layout: Layout) -> str:
    """The module for objects that are laid out so."""
    places = {
        "fields": load_fields("%info", INFO),
        "descrs": len(INFO),
        "plan": load_fields("%plan", FIELDS, {"nargs", "nin", "sizes"}),
        "type": layout.type,
        "value": layout.value,
        "bytes": layout.bytes,
        "data": layout.data,
        "nd": layout.data + 8,
        "shape": layout.data + 16,
    }
    code = _CODE
    for name, place in places.items():
        code = code.replace(f"{{{name}}}", str(place))
    return code + ATTRIBUTES
