"""IR of the overlap check of a direct call: whether an output shares memory with another argument."""

from __future__ import annotations

__all__ = ["OVERLAP"]

# An output may be an input (every element is read before it is written). NumPy handles any other overlap by copies.
# Eight arguments are compared at once; unused entries of the tables are empty intervals at 0.
OVERLAP = """\
define internal i1 @direct.overlap(ptr %places, ptr %steps, ptr %sizes, i64 %n, i64 %nin, i64 %nargs) #0 {
entry:
  %n.less.one = sub i64 %n, 1
  %nargs.up = add i64 %nargs, 7
  %table = and i64 %nargs.up, -8
  %begins = alloca i64, i64 %table
  %ends = alloca i64, i64 %table
  br label %spread
spread:
  %s = phi i64 [ 0, %entry ], [ %s.next, %spread ]
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
  br i1 %o.more, label %interval, label %none
interval:
  %o.place.at = getelementptr i64, ptr %places, i64 %o
  %o.place = load i64, ptr %o.place.at
  %o.step.at = getelementptr i64, ptr %steps, i64 %o
  %o.step = load i64, ptr %o.step.at
  %o.size.at = getelementptr i64, ptr %sizes, i64 %o
  %o.size = load i64, ptr %o.size.at
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
  br i1 %harmless, label %other.fine, label %found
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
found:
  ret i1 true
none:
  ret i1 false
}
"""
