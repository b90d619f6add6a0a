"""IR that takes scratch memory of a function from the stack, or from the heap if there is much of it."""

from __future__ import annotations

# More than 24 KiB is on the heap: threads have stacks of 512 KiB on macOS.
SCRATCH = """\
  %scratch.small = icmp ule i64 %scratch.size, 24576
  br i1 %scratch.small, label %scratch.stack, label %scratch.allocate
scratch.stack:
  %scratch.on.stack = alloca i8, i64 %scratch.size, align 64
  br label %scratch.ready
scratch.allocate:
  %scratch.more = add i64 %scratch.size, 64
  %scratch.on.heap = call ptr @malloc(i64 %scratch.more)
  %scratch.none = icmp eq ptr %scratch.on.heap, null
  br i1 %scratch.none, label %exhausted, label %scratch.align
scratch.align:
  %scratch.address = ptrtoint ptr %scratch.on.heap to i64
  %scratch.above = add i64 %scratch.address, 63
  %scratch.aligned = and i64 %scratch.above, -64
  %scratch.in.heap = inttoptr i64 %scratch.aligned to ptr
  br label %scratch.ready
scratch.ready:
  %heap = phi ptr [ null, %scratch.stack ], [ %scratch.on.heap, %scratch.align ]
  %scratch = phi ptr [ %scratch.on.stack, %scratch.stack ], [ %scratch.in.heap, %scratch.align ]
"""
"""Lines that define ``%scratch``, aligned to 64 bytes, from ``%scratch.size``, and ``%heap``, which the function frees
when it ends. The function has a block ``exhausted`` for the case that the heap has not enough memory."""

SCRATCH_DECLARATIONS = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @abort()
"""
"""The functions of the C library that `SCRATCH` and the block ``exhausted`` call, as a module declares them."""
