"""IR of the overlap check of a direct call: whether an output shares memory with another argument."""

from __future__ import annotations

SPAN = (
    ("begin", "i64"),  # the first address, and the address after the last one
    ("end", "i64"),
    ("base", "ptr"),  # the address of the first entry
    ("step", "i64"),
)
"""What is known of the memory of a value. A number is an empty interval at 0."""

# An output may be an input (every element is read before it is written). NumPy handles any other overlap by copies.
#
# The values are sorted by where they begin (shell sort). In this order a value overlaps an earlier output only if it
# begins before the last output ends, since outputs that overlap each other end the check.
OVERLAP = """\
%direct.span = type { i64, i64, ptr, i64 }

define internal i64 @direct.begin(ptr %spans, i64 %v) #1 {
  %at = getelementptr %direct.span, ptr %spans, i64 %v
  %begin = load i64, ptr %at
  ret i64 %begin
}

define internal i1 @direct.apart(ptr %spans, i64 %v, i64 %o) #1 {
  %v.at = getelementptr %direct.span, ptr %spans, i64 %v
  %v.span = load %direct.span, ptr %v.at
  %o.at = getelementptr %direct.span, ptr %spans, i64 %o
  %o.span = load %direct.span, ptr %o.at
  %v.begin = extractvalue %direct.span %v.span, 0
  %v.end = extractvalue %direct.span %v.span, 1
  %v.base = extractvalue %direct.span %v.span, 2
  %v.step = extractvalue %direct.span %v.span, 3
  %o.begin = extractvalue %direct.span %o.span, 0
  %o.end = extractvalue %direct.span %o.span, 1
  %o.base = extractvalue %direct.span %o.span, 2
  %o.step = extractvalue %direct.span %o.span, 3
  %before = icmp ule i64 %v.end, %o.begin
  %after = icmp ule i64 %o.end, %v.begin
  %beside = or i1 %before, %after
  %same.base = icmp eq ptr %v.base, %o.base
  %same.step = icmp eq i64 %v.step, %o.step
  %same = and i1 %same.base, %same.step
  %apart = or i1 %beside, %same
  ret i1 %apart
}

define internal i1 @direct.overlap(ptr %spans, ptr %order, i64 %inputs, i64 %values) #0 {
entry:
  br label %number
number:
  %i = phi i64 [ 0, %entry ], [ %i.next, %number ]
  %i.at = getelementptr i64, ptr %order, i64 %i
  store i64 %i, ptr %i.at
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %values
  br i1 %i.more, label %number, label %distance

distance:
  %larger = phi i64 [ %values, %number ], [ %gap, %inserted ]
  %larger.half = mul i64 %larger, 5
  %smaller = udiv i64 %larger.half, 11
  %gap = call i64 @llvm.umax.i64(i64 %smaller, i64 1)
  br label %insert
insert:
  %t = phi i64 [ %gap, %distance ], [ %t.next, %put ]
  %t.more = icmp slt i64 %t, %values
  %again = icmp sgt i64 %gap, 1
  br i1 %t.more, label %take, label %inserted
inserted:
  br i1 %again, label %distance, label %sweep
take:
  %item.at = getelementptr i64, ptr %order, i64 %t
  %item = load i64, ptr %item.at
  %key = call i64 @direct.begin(ptr %spans, i64 %item)
  br label %shift
shift:
  %j = phi i64 [ %t, %take ], [ %j.back, %move ]
  %j.back = sub i64 %j, %gap
  %to = getelementptr i64, ptr %order, i64 %j
  %far = icmp sge i64 %j.back, 0
  br i1 %far, label %compare, label %put
compare:
  %from = getelementptr i64, ptr %order, i64 %j.back
  %other = load i64, ptr %from
  %other.key = call i64 @direct.begin(ptr %spans, i64 %other)
  %later = icmp ugt i64 %other.key, %key
  br i1 %later, label %move, label %put
move:
  store i64 %other, ptr %to
  br label %shift
put:
  store i64 %item, ptr %to
  %t.next = add i64 %t, 1
  br label %insert

sweep:
  %s = phi i64 [ 0, %inserted ], [ %s.next, %fine ]
  %in.end = phi i64 [ 0, %inserted ], [ %in.end.next, %fine ]
  %out.end = phi i64 [ 0, %inserted ], [ %out.end.next, %fine ]
  %out.last = phi i64 [ 0, %inserted ], [ %out.last.next, %fine ]
  %v.at = getelementptr i64, ptr %order, i64 %s
  %v = load i64, ptr %v.at
  %span = getelementptr %direct.span, ptr %spans, i64 %v
  %begin = load i64, ptr %span
  %end.at = getelementptr i64, ptr %span, i64 1
  %end = load i64, ptr %end.at
  %input = icmp slt i64 %v, %inputs
  %in.reach = call i64 @llvm.umax.i64(i64 %in.end, i64 %end)
  %in.end.next = select i1 %input, i64 %in.reach, i64 %in.end
  %out.end.next = select i1 %input, i64 %out.end, i64 %end
  %out.last.next = select i1 %input, i64 %out.last, i64 %v
  %in.output = icmp ult i64 %begin, %out.end
  br i1 %in.output, label %with.output, label %after.outputs
with.output:
  %harmless = call i1 @direct.apart(ptr %spans, i64 %v, i64 %out.last)
  %in.place = and i1 %input, %harmless
  br i1 %in.place, label %fine, label %found
after.outputs:
  %in.input = icmp ult i64 %begin, %in.end
  %not.input = xor i1 %input, true
  %closely = and i1 %not.input, %in.input
  br i1 %closely, label %with.input, label %fine
with.input:
  %e = phi i64 [ 0, %after.outputs ], [ %e.next, %next.input ]
  %e.more = icmp slt i64 %e, %s
  br i1 %e.more, label %earlier, label %fine
earlier:
  %e.at = getelementptr i64, ptr %order, i64 %e
  %e.value = load i64, ptr %e.at
  %e.next = add i64 %e, 1
  %e.harmless = call i1 @direct.apart(ptr %spans, i64 %v, i64 %e.value)
  br i1 %e.harmless, label %next.input, label %found
next.input:
  br label %with.input
fine:
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %values
  br i1 %s.more, label %sweep, label %none
found:
  ret i1 true
none:
  ret i1 false
}
"""
