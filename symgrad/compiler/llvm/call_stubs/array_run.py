"""The end of the stub of direct calls (`array_call.py`): it runs the loop on whole vectors, and on what is left."""

from __future__ import annotations

MAX_SAVED_BYTES = 2**14
"""At most so many bytes of inputs are saved on the stack for the last vector."""

# The elements after the last whole vector are computed as one vector of the last elements, some of which are computed
# a second time. Their inputs are saved first, because an output may be an input. The loop itself would gather these
# elements into buffers, which for thirty arguments takes as long as eighty elements.
RUN = """
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
  br i1 %again, label %save, label %locked
save:
  %saved = alloca i8, i64 %saved.bytes, align 64
  %from = sub i64 %n.next, %width
  br label %last.argument
last.argument:
  %a = phi i64 [ 0, %save ], [ %a.next, %last.known ]
  %a.step.at = getelementptr i64, ptr %steps, i64 %a
  %a.step = load i64, ptr %a.step.at
  %a.place.at = getelementptr ptr, ptr %places, i64 %a
  %a.place = load ptr, ptr %a.place.at
  %a.shift = mul i64 %a.step, %from
  %a.last = getelementptr i8, ptr %a.place, i64 %a.shift
  %a.input = icmp slt i64 %a, %nin
  %a.moves = icmp ne i64 %a.step, 0
  %a.saved = and i1 %a.input, %a.moves
  br i1 %a.saved, label %copy, label %last.known
copy:
  %a.offset = mul i64 %a, %vector.bytes
  %a.buffer = getelementptr i8, ptr %saved, i64 %a.offset
  %a.bytes = mul i64 %width, %a.step
  call void @llvm.memcpy.p0.p0.i64(ptr %a.buffer, ptr %a.last, i64 %a.bytes, i1 false)
  br label %last.known
last.known:
  %a.from = phi ptr [ %a.last, %last.argument ], [ %a.buffer, %copy ]
  %a.at = getelementptr ptr, ptr %lasts, i64 %a
  store ptr %a.from, ptr %a.at
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %nargs
  br i1 %a.more, label %last.argument, label %locked

locked:
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
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
"""The blocks from the label ``run`` on, and the declarations of the functions that they call."""
