"""The stub of calls from XLA: it reads a call frame of XLA's foreign function interface and runs the inner loop.

Everything that depends on shapes is in a record, created when XLA compiles the call; a call uses neither Python nor the
GIL. The loop works on XLA's buffers without copying them.
"""

from __future__ import annotations

from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.templates import fill_template, load_fields

CALL = "xla.call"
"""The function: ``XLA_FFI_Error *(XLA_FFI_CallFrame *frame, void *record)``."""

HANDLER = "xla.handler"
"""The function that is registered with XLA for one call: its only argument is the frame."""

API_VERSION = (0, 3)
"""The version of the interface that the offsets below belong to (xla/ffi/api/c_api.h)."""

MINIMUM_SIZES = {"frame": 168, "metadata": 36}
"""Minimum sizes of structures, in bytes. XLA passes them when it queries the version; later versions add fields."""

QUERY_LOG = ("calls", "frame", "metadata")
"""The log of version queries: their number, and the sizes that XLA passed."""

RECORD = (
    ("loop", "ptr"),
    ("data", "ptr"),  # the last argument of the loop
    ("told", "i64"),  # whether the loop returns an error code
    ("nargs", "i64"),
    ("nin", "i64"),
    ("depth", "i64"),  # number of axes around the loop
    ("turns", "i64"),  # number of calls of the loop
    ("lengths", "ptr"),  # lengths of these axes
    ("strides", "ptr"),  # strides of every axis, for every argument, in bytes
    ("dimensions", "ptr"),  # arguments of the loop
    ("steps", "ptr"),
    ("types", "ptr"),  # XLA's number of the dtype of every argument
    ("counts", "ptr"),  # number of elements of every argument
    ("checks", "i64"),  # number of inputs that hold indices
    (
        "checked",
        "ptr",
    ),  # four words for each: the input, the lowest and the highest index, the address of a message
    ("exhausted", "ptr"),  # messages
    ("negative", "ptr"),
    ("unlike", "ptr"),
    ("interrupted", "ptr"),
    ("stopped", "ptr"),  # function that returns whether Ctrl-C was pressed; null for loops that never check
    (
        "lock",
        "ptr",
    ),  # functions of Python: PyGILState_Ensure, PyErr_Clear, PyErr_SetInterrupt, PyGILState_Release
    ("forget", "ptr"),
    ("interrupt", "ptr"),
    ("unlock", "ptr"),
    ("seen", "ptr"),
)

# XLA flushes subnormal numbers to zero; the stub restores the default mode, so a kernel has the same bits as elsewhere.
_X86 = """\
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define internal i64 @xla.plain.numbers() #1 {
  %at = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %at)
  %before = load i32, ptr %at
  store i32 8064, ptr %at
  call void @llvm.x86.sse.ldmxcsr(ptr %at)
  %wide = zext i32 %before to i64
  ret i64 %wide
}
define internal void @xla.its.numbers(i64 %before) #1 {
  %at = alloca i32
  %word = trunc i64 %before to i32
  store i32 %word, ptr %at
  call void @llvm.x86.sse.ldmxcsr(ptr %at)
  ret void
}
"""
_ARM = """\
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define internal i64 @xla.plain.numbers() #1 {
  %before = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  ret i64 %before
}
define internal void @xla.its.numbers(i64 %before) #1 {
  call void @llvm.aarch64.set.fpcr(i64 %before)
  ret void
}
"""
_OTHER = """\
define internal i64 @xla.plain.numbers() #1 {
  ret i64 0
}
define internal void @xla.its.numbers(i64 %before) #1 {
  ret void
}
"""

# Offsets, in bytes. CallFrame: 0 size, 8 extensions, 16 api, 32 stage, 40 args, 80 rets; args and rets: 0 size, 16
# count, 32 table of buffers; Buffer: 0 size, 16 dtype, 24 data, 32 rank, 40 dims. Extension: 8 kind, 24 metadata;
# Metadata: 0 size, 24 major and 28 minor version, 32 traits. Api: 48 function that creates an error; its argument: 0
# size, 16 message, 24 code.
_CALL = """\
define ptr @xla.call(ptr %frame, ptr %record) #0 {
entry:
${fields}
  %extension.at = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %extension.at
  %plainly = icmp eq ptr %extension, null
  br i1 %plainly, label %run, label %extended
extended:
  %kind.at = getelementptr i8, ptr %extension, i64 8
  %kind = load i32, ptr %kind.at
  %asked = icmp eq i32 %kind, 1
  br i1 %asked, label %answer, label %run
answer:
  %metadata.at = getelementptr i8, ptr %extension, i64 24
  %metadata = load ptr, ptr %metadata.at
  %frame.bytes = load i64, ptr %frame
  %metadata.bytes = load i64, ptr %metadata
  %times = load i64, ptr %seen
  %times.more = add i64 %times, 1
  store i64 %times.more, ptr %seen
  %frame.seen = getelementptr i64, ptr %seen, i64 1
  store i64 %frame.bytes, ptr %frame.seen
  %metadata.seen = getelementptr i64, ptr %seen, i64 2
  store i64 %metadata.bytes, ptr %metadata.seen
  %answerable = icmp uge i64 %metadata.bytes, ${metadata}
  br i1 %answerable, label %version, label %fine
version:
  %major.at = getelementptr i8, ptr %metadata, i64 24
  store i32 ${major}, ptr %major.at
  %minor.at = getelementptr i8, ptr %metadata, i64 28
  store i32 ${minor}, ptr %minor.at
  %traits.at = getelementptr i8, ptr %metadata, i64 32
  store i32 0, ptr %traits.at
  br label %fine
fine:
  ret ptr null

run:
  %stage.at = getelementptr i8, ptr %frame, i64 32
  %stage = load i32, ptr %stage.at
  %due = icmp eq i32 %stage, 3
  br i1 %due, label %measure, label %fine
measure:
  %args.at = getelementptr i8, ptr %frame, i64 40
  %rets.at = getelementptr i8, ptr %frame, i64 80
  %size = load i64, ptr %frame
  %args.size = load i64, ptr %args.at
  %rets.size = load i64, ptr %rets.at
  %size.good = icmp uge i64 %size, ${frame}
  %args.good = icmp eq i64 %args.size, 40
  %rets.good = icmp eq i64 %rets.size, 40
  %given.at = getelementptr i8, ptr %args.at, i64 16
  %given = load i64, ptr %given.at
  %taken.at = getelementptr i8, ptr %rets.at, i64 16
  %taken = load i64, ptr %taken.at
  %nout = sub i64 %nargs, %nin
  %given.all = icmp eq i64 %given, %nin
  %taken.all = icmp eq i64 %taken, %nout
  %good.1 = and i1 %size.good, %args.good
  %good.2 = and i1 %rets.good, %given.all
  %good.3 = and i1 %good.1, %good.2
  %good = and i1 %good.3, %taken.all
  br i1 %good, label %tables, label %refuse
refuse:
  br label %fail

tables:
  %places = alloca ptr, i64 %nargs
  %turn.of = alloca i64, i64 %depth
  %inputs.at = getelementptr i8, ptr %args.at, i64 32
  %inputs = load ptr, ptr %inputs.at
  %outputs.at = getelementptr i8, ptr %rets.at, i64 32
  %outputs = load ptr, ptr %outputs.at
  %back = sub i64 0, %nin
  %outputs.less = getelementptr ptr, ptr %outputs, i64 %back
  br label %argument
argument:
  %k = phi i64 [ 0, %tables ], [ %k.next, %placed ]
  %input = icmp slt i64 %k, %nin
  %items = select i1 %input, ptr %inputs, ptr %outputs.less
  %buffer.at = getelementptr ptr, ptr %items, i64 %k
  %buffer = load ptr, ptr %buffer.at
  %bytes = load i64, ptr %buffer
  %type.at = getelementptr i8, ptr %buffer, i64 16
  %type = load i32, ptr %type.at
  %type.wide = zext i32 %type to i64
  %type.wanted.at = getelementptr i64, ptr %types, i64 %k
  %type.wanted = load i64, ptr %type.wanted.at
  %bytes.good = icmp uge i64 %bytes, 48
  %type.good = icmp eq i64 %type.wide, %type.wanted
  %buffer.good = and i1 %bytes.good, %type.good
  br i1 %buffer.good, label %shape, label %refuse
shape:
  %data.at = getelementptr i8, ptr %buffer, i64 24
  %place = load ptr, ptr %data.at
  %rank.at = getelementptr i8, ptr %buffer, i64 32
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr i8, ptr %buffer, i64 40
  %dims = load ptr, ptr %dims.at
  br label %axis.test
axis.test:
  %d = phi i64 [ 0, %shape ], [ %d.next, %axis ]
  %count = phi i64 [ 1, %shape ], [ %count.next, %axis ]
  %d.more = icmp slt i64 %d, %rank
  br i1 %d.more, label %axis, label %counted
axis:
  %length.at = getelementptr i64, ptr %dims, i64 %d
  %length = load i64, ptr %length.at
  %count.next = mul i64 %count, %length
  %d.next = add i64 %d, 1
  br label %axis.test
counted:
  %wanted.at = getelementptr i64, ptr %counts, i64 %k
  %wanted = load i64, ptr %wanted.at
  %count.good = icmp eq i64 %count, %wanted
  br i1 %count.good, label %placed, label %refuse
placed:
  %place.at = getelementptr ptr, ptr %places, i64 %k
  store ptr %place, ptr %place.at
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %argument, label %check.test

check.test:
  %c = phi i64 [ 0, %placed ], [ %c.next, %position.test ]
  %c.more = icmp slt i64 %c, %checks
  br i1 %c.more, label %check, label %clear.test
check:
  %c.first = mul i64 %c, 4
  %who.at = getelementptr i64, ptr %checked, i64 %c.first
  %who = load i64, ptr %who.at
  %low.at = getelementptr i64, ptr %who.at, i64 1
  %low = load i64, ptr %low.at
  %high.at = getelementptr i64, ptr %who.at, i64 2
  %high = load i64, ptr %high.at
  %outside.at = getelementptr i64, ptr %who.at, i64 3
  %outside = load ptr, ptr %outside.at
  %positions.at = getelementptr ptr, ptr %places, i64 %who
  %positions = load ptr, ptr %positions.at
  %many.at = getelementptr i64, ptr %counts, i64 %who
  %many = load i64, ptr %many.at
  br label %position.test
position.test:
  %p = phi i64 [ 0, %check ], [ %p.next, %position ]
  %p.more = icmp slt i64 %p, %many
  %c.next = add i64 %c, 1
  br i1 %p.more, label %position, label %check.test
position:
  %position.at = getelementptr i64, ptr %positions, i64 %p
  %found = load i64, ptr %position.at
  %above = icmp sge i64 %found, %low
  %below = icmp sle i64 %found, %high
  %inside = and i1 %above, %below
  %p.next = add i64 %p, 1
  br i1 %inside, label %position.test, label %fail

clear.test:
  %z = phi i64 [ 0, %check.test ], [ %z.next, %clear ]
  %z.more = icmp slt i64 %z, %depth
  br i1 %z.more, label %clear, label %begin
clear:
  %z.at = getelementptr i64, ptr %turn.of, i64 %z
  store i64 0, ptr %z.at
  %z.next = add i64 %z, 1
  br label %clear.test

begin:
  %before = call i64 @xla.plain.numbers()
  %some = icmp sgt i64 %turns, 0
  br i1 %some, label %turn, label %end
turn:
  %t = phi i64 [ 0, %begin ], [ %t.next, %moved ]
  %tells = icmp ne i64 %told, 0
  br i1 %tells, label %ask, label %compute
compute:
  call void %loop(ptr %places, ptr %dimensions, ptr %steps, ptr %data)
  br label %computed
ask:
  %code = call i32 %loop(ptr %places, ptr %dimensions, ptr %steps, ptr %data)
  %well = icmp eq i32 %code, 0
  br i1 %well, label %computed, label %broken
computed:
  %t.next = add i64 %t, 1
  %t.more = icmp slt i64 %t.next, %turns
  br i1 %t.more, label %move, label %end
move:
  %a = phi i64 [ %depth, %computed ], [ %axis.now, %wrapped ]
  %axis.now = sub i64 %a, 1
  %turn.at = getelementptr i64, ptr %turn.of, i64 %axis.now
  %turn.now = load i64, ptr %turn.at
  %turn.next = add i64 %turn.now, 1
  %extent.at = getelementptr i64, ptr %lengths, i64 %axis.now
  %extent = load i64, ptr %extent.at
  %over = icmp eq i64 %turn.next, %extent
  %turn.new = select i1 %over, i64 0, i64 %turn.next
  store i64 %turn.new, ptr %turn.at
  %by = sub i64 %turn.new, %turn.now
  %row = mul i64 %axis.now, %nargs
  br label %shift
shift:
  %s = phi i64 [ 0, %move ], [ %s.next, %shift ]
  %s.flat = add i64 %row, %s
  %stride.at = getelementptr i64, ptr %strides, i64 %s.flat
  %stride = load i64, ptr %stride.at
  %distance = mul i64 %stride, %by
  %old.at = getelementptr ptr, ptr %places, i64 %s
  %old = load ptr, ptr %old.at
  %new = getelementptr i8, ptr %old, i64 %distance
  store ptr %new, ptr %old.at
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %nargs
  br i1 %s.more, label %shift, label %wrapped
wrapped:
  br i1 %over, label %move, label %moved
moved:
  br label %turn

end:
  call void @xla.its.numbers(i64 %before)
  %never = icmp eq ptr %stopped, null
  br i1 %never, label %fine, label %listen
listen:
  %came = call i32 %stopped()
  %quiet = icmp eq i32 %came, 0
  br i1 %quiet, label %fine, label %again
again:
  ; JAX raises an error of its own, and Python must have none then: Ctrl-C comes once more, after that.
  %gil = call i32 %lock()
  call void %forget()
  call void %interrupt()
  call void %unlock(i32 %gil)
  br label %fail
broken:
  call void @xla.its.numbers(i64 %before)
  %short = icmp eq i32 %code, 1
  %broken.why = select i1 %short, ptr %exhausted, ptr %negative
  %broken.code = select i1 %short, i32 8, i32 3
  br label %fail
fail:
  %message = phi ptr [ %unlike, %refuse ], [ %outside, %position ], [ %interrupted, %again ], [ %broken.why, %broken ]
  %number = phi i32 [ 13, %refuse ], [ 11, %position ], [ 1, %again ], [ %broken.code, %broken ]
  %api.at = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %api.at
  %create.at = getelementptr i8, ptr %api, i64 48
  %create = load ptr, ptr %create.at
  %error = alloca [4 x i64]
  store i64 28, ptr %error
  %error.extension = getelementptr i64, ptr %error, i64 1
  store i64 0, ptr %error.extension
  %error.message = getelementptr i64, ptr %error, i64 2
  store ptr %message, ptr %error.message
  %error.code = getelementptr i64, ptr %error, i64 3
  store i32 %number, ptr %error.code
  %made = call ptr %create(ptr %error)
  ret ptr %made
}
"""

_HANDLER = """\
define ptr @${name}(ptr %frame) {
  %error = tail call ptr inttoptr (i64 ${call} to ptr)(ptr %frame, ptr inttoptr (i64 ${record} to ptr))
  ret ptr %error
}
"""


def module_text(triple: str) -> str:
    """Return the module of `CALL` for a target triple."""
    kind = triple.split("-", 1)[0]
    numbers = _X86 if kind == "x86_64" else _ARM if kind in ("aarch64", "arm64") else _OTHER
    parts = {
        "fields": load_fields("%record", RECORD),
        "major": API_VERSION[0],
        "minor": API_VERSION[1],
        **MINIMUM_SIZES,
    }
    return fill_template(_CALL, parts) + numbers + ATTRIBUTES


def handler_text(call: int, record: int) -> str:
    """Return the module of `HANDLER` for one record.

    Args:
        call: the address of `CALL`.
        record: the address of the record.
    """
    return fill_template(_HANDLER, {"name": HANDLER, "call": call, "record": record})
