"""IR of the loop that copies a strided array to contiguous memory, or back."""

from __future__ import annotations

# Copy the rows of a strided array, one after the other, into contiguous memory or (%out) from it. The indices of the
# outer axes are counted like the digits of an odometer, because the rank is known only at run time. No axis is empty:
# the caller skips empty arrays.
STRIDED = """\
define internal void @array.copy(ptr %strided, ptr %compact, i64 %k, i1 %out, ptr %core, ptr %core.strides, ptr %plan,
  ptr %counters) #0 {
entry:
${fields}
  %item.at = getelementptr i64, ptr %itemsizes, i64 %k
  %item = load i64, ptr %item.at
  %rank.at = getelementptr i64, ptr %ranks, i64 %k
  %rank = load i64, ptr %rank.at
  %first.at = getelementptr i64, ptr %offsets, i64 %k
  %first = load i64, ptr %first.at
  %axes.k = getelementptr i64, ptr %axes, i64 %first
  %strides = getelementptr i64, ptr %core.strides, i64 %first
  %inner = sub i64 %rank, 1
  %outer = sub i64 %rank, 2
  %scalar = icmp eq i64 %rank, 0
  br i1 %scalar, label %reset, label %measure
measure:
  %inner.at = getelementptr i64, ptr %axes.k, i64 %inner
  %inner.axis = load i64, ptr %inner.at
  %inner.size.at = getelementptr i64, ptr %core, i64 %inner.axis
  %inner.size = load i64, ptr %inner.size.at
  %inner.stride.at = getelementptr i64, ptr %strides, i64 %inner
  %inner.stride = load i64, ptr %inner.stride.at
  br label %reset
reset:
  %length = phi i64 [ 1, %entry ], [ %inner.size, %measure ]
  %stride = phi i64 [ 0, %entry ], [ %inner.stride, %measure ]
  %last = sub i64 %length, 1
  %row.bytes = mul i64 %length, %item
  br label %clear.test
clear.test:
  %z = phi i64 [ 0, %reset ], [ %z.next, %clear ]
  %z.more = icmp slt i64 %z, %inner
  br i1 %z.more, label %clear, label %row
clear:
  %z.at = getelementptr i64, ptr %counters, i64 %z
  store i64 0, ptr %z.at
  %z.next = add i64 %z, 1
  br label %clear.test
row:
  %p = phi ptr [ %strided, %clear.test ], [ %p.moved, %next ]
  %q = phi ptr [ %compact, %clear.test ], [ %q.next, %next ]
  br i1 %out, label %put, label %get
put:
  call void @ufunc.copy(ptr %q, i64 %item, ptr %p, i64 %stride, i64 %length, i64 %last, i64 %item)
  br label %advance
get:
  call void @ufunc.copy(ptr %p, i64 %stride, ptr %q, i64 %item, i64 %length, i64 %last, i64 %item)
  br label %advance
advance:
  %q.next = getelementptr i8, ptr %q, i64 %row.bytes
  br label %carry
carry:
  %d = phi i64 [ %outer, %advance ], [ %d.next, %wrap ]
  %p.d = phi ptr [ %p, %advance ], [ %p.back, %wrap ]
  %left = icmp sge i64 %d, 0
  br i1 %left, label %turn, label %end
turn:
  %counter.at = getelementptr i64, ptr %counters, i64 %d
  %counter = load i64, ptr %counter.at
  %counter.next = add i64 %counter, 1
  %axis.at = getelementptr i64, ptr %axes.k, i64 %d
  %axis = load i64, ptr %axis.at
  %size.at = getelementptr i64, ptr %core, i64 %axis
  %size = load i64, ptr %size.at
  %stride.at = getelementptr i64, ptr %strides, i64 %d
  %stride.d = load i64, ptr %stride.at
  %p.moved = getelementptr i8, ptr %p.d, i64 %stride.d
  %within = icmp slt i64 %counter.next, %size
  br i1 %within, label %next, label %wrap
next:
  store i64 %counter.next, ptr %counter.at
  br label %row
wrap:
  store i64 0, ptr %counter.at
  %whole = mul i64 %size, %stride.d
  %minus = sub i64 0, %whole
  %p.back = getelementptr i8, ptr %p.moved, i64 %minus
  %d.next = sub i64 %d, 1
  br label %carry
end:
  ret void
}
"""
