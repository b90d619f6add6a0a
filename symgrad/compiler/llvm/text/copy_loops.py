"""IR of the copy loops: gather and scatter elements through buffers, and store large results around the caches.

LLVM does not optimise these functions, so they are written to be fast at level 0: an iteration works in registers, and
only the values for the next iteration pass through memory.
"""

from __future__ import annotations

from collections.abc import Collection

from symgrad.compiler.llvm.text.templates import fill_template

_KINDS = {8: ("i64", "eights"), 4: ("i32", "fours"), 1: ("i8", "ones")}
"""For each size of an element in bytes: the type that is loaded, and the prefix of its blocks."""

_UNROLLED = 8


_COPY_ELEMENT = """\
  %${x}.v${k} = load ${kind}, ptr %${x}.p${k}, align 1
  store ${kind} %${x}.v${k}, ptr %${x}.q${k}, align 1
  %${x}.p${next} = getelementptr i8, ptr %${x}.p${k}, i64 %src.step
  %${x}.q${next} = getelementptr i8, ptr %${x}.q${k}, i64 %dst.step
"""

# The loop for elements of one size: first unrolled, then one element at a time, then padding with the last element.
_COPY_OF_SIZE = """\
${x}:
  %${x}.many = icmp sge i64 %real, ${unrolled}
  br i1 %${x}.many, label %${x}.several, label %${x}.few
${x}.several:
  %${x}.p0 = phi ptr [ %src, %${x} ], [ %${x}.p${unrolled}, %${x}.several ]
  %${x}.q0 = phi ptr [ %dst, %${x} ], [ %${x}.q${unrolled}, %${x}.several ]
  %${x}.todo = phi i64 [ %real, %${x} ], [ %${x}.less, %${x}.several ]
${moved}  %${x}.less = sub i64 %${x}.todo, ${unrolled}
  %${x}.more = icmp sge i64 %${x}.less, ${unrolled}
  br i1 %${x}.more, label %${x}.several, label %${x}.few
${x}.few:
  %${x}.p = phi ptr [ %src, %${x} ], [ %${x}.p${unrolled}, %${x}.several ], [ %${x}.p.next, %${x}.one ]
  %${x}.q = phi ptr [ %dst, %${x} ], [ %${x}.q${unrolled}, %${x}.several ], [ %${x}.q.next, %${x}.one ]
  %${x}.left = phi i64 [ %real, %${x} ], [ %${x}.less, %${x}.several ], [ %${x}.left.next, %${x}.one ]
  %${x}.any = icmp sgt i64 %${x}.left, 0
  br i1 %${x}.any, label %${x}.one, label %${x}.end
${x}.one:
  %${x}.v = load ${kind}, ptr %${x}.p, align 1
  store ${kind} %${x}.v, ptr %${x}.q, align 1
  %${x}.p.next = getelementptr i8, ptr %${x}.p, i64 %src.step
  %${x}.q.next = getelementptr i8, ptr %${x}.q, i64 %dst.step
  %${x}.left.next = sub i64 %${x}.left, 1
  br label %${x}.few
${x}.end:
  %${x}.v.last = load ${kind}, ptr %end, align 1
  br label %${x}.fill
${x}.fill:
  %${x}.r = phi ptr [ %${x}.q, %${x}.end ], [ %${x}.r.next, %${x}.filled ]
  %${x}.gap = phi i64 [ %padding, %${x}.end ], [ %${x}.gap.next, %${x}.filled ]
  %${x}.open = icmp sgt i64 %${x}.gap, 0
  br i1 %${x}.open, label %${x}.filled, label %done
${x}.filled:
  store ${kind} %${x}.v.last, ptr %${x}.r, align 1
  %${x}.r.next = getelementptr i8, ptr %${x}.r, i64 %dst.step
  %${x}.gap.next = sub i64 %${x}.gap, 1
  br label %${x}.fill
"""


def _copy_of(kind: str, name: str) -> str:
    """Return the blocks of the copy function for elements of one size."""
    named = {"x": name, "kind": kind}
    moved = [fill_template(_COPY_ELEMENT, {**named, "k": k, "next": k + 1}) for k in range(_UNROLLED)]
    return fill_template(_COPY_OF_SIZE, {**named, "unrolled": _UNROLLED, "moved": "".join(moved)})


_COPY = """\
define internal void @ufunc.copy(ptr %src, i64 %src.step, ptr %dst, i64 %dst.step, i64 %count, i64 %last, i64 %size)
#0 { entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %pick, label %done
pick:
  %known = add i64 %last, 1
  %short = icmp slt i64 %count, %known
  %real = select i1 %short, i64 %count, i64 %known
  %padding = sub i64 %count, %real
  %end.offset = mul i64 %last, %src.step
  %end = getelementptr i8, ptr %src, i64 %end.offset
  switch i64 %size, label %${first} [ ${others} ]
${parts}done:
  ret void
}
"""


def copy_function(sizes: Collection[int] = tuple(_KINDS)) -> str:
    """Return the function that gathers, scatters and pads: dst[j] = src[min(j, last)].

    A short block is padded with copies of its last element, so no lane computes on a value that the user did not pass.

    Args:
        sizes: the sizes of elements, in bytes, that the function must support.
    """
    first, *others = (n for n in _KINDS if n in sizes)
    parts = {
        "first": _KINDS[first][1],
        "others": " ".join(f"i64 {n}, label %{_KINDS[n][1]}" for n in others),
        "parts": "".join(_copy_of(*_KINDS[n]) for n in (first, *others)),
    }
    return fill_template(_COPY, parts)


_LINES = 4
"""The number of cache lines that an iteration copies."""

_LINE = """\
  %from.${n}.${k} = getelementptr i8, ptr %src.${n}, i64 ${at}
  %to.${n}.${k} = getelementptr i8, ptr %dst.${n}, i64 ${at}
  %line.${n}.${k} = load <8 x i64>, ptr %from.${n}.${k}, align 1
  store <8 x i64> %line.${n}.${k}, ptr %to.${n}.${k}, align 64, !nontemporal !{i32 1}
"""


def _lines(count: int) -> str:
    return "".join(fill_template(_LINE, {"n": count, "k": k, "at": 64 * k}) for k in range(count))


# An ordinary store first fetches the cache line that it writes to; a nontemporal store does not. If the results do not
# fit into the caches anyway, nontemporal stores save a third of the memory traffic.
_STREAM = """\
define internal void @ufunc.stream(ptr %src, ptr %dst, i64 %bytes) #0 {
entry:
  %place = ptrtoint ptr %dst to i64
  %minus = sub i64 0, %place
  %gap = and i64 %minus, 63
  %tiny = icmp slt i64 %bytes, %gap
  %head = select i1 %tiny, i64 %bytes, i64 %gap
  call void @llvm.memcpy.p0.p0.i64(ptr %dst, ptr %src, i64 %head, i1 false)
  %src.aligned = getelementptr i8, ptr %src, i64 %head
  %dst.aligned = getelementptr i8, ptr %dst, i64 %head
  %rest = sub i64 %bytes, %head
  br label %many
many:
  %src.${lines} = phi ptr [ %src.aligned, %entry ], [ %src.next, %several ]
  %dst.${lines} = phi ptr [ %dst.aligned, %entry ], [ %dst.next, %several ]
  %left = phi i64 [ %rest, %entry ], [ %left.next, %several ]
  %enough = icmp sge i64 %left, ${bytes}
  br i1 %enough, label %several, label %few
several:
${several}  %src.next = getelementptr i8, ptr %src.${lines}, i64 ${bytes}
  %dst.next = getelementptr i8, ptr %dst.${lines}, i64 ${bytes}
  %left.next = sub i64 %left, ${bytes}
  br label %many
few:
  %src.1 = phi ptr [ %src.${lines}, %many ], [ %src.after, %one ]
  %dst.1 = phi ptr [ %dst.${lines}, %many ], [ %dst.after, %one ]
  %over = phi i64 [ %left, %many ], [ %over.next, %one ]
  %another = icmp sge i64 %over, 64
  br i1 %another, label %one, label %tail
one:
${one}  %src.after = getelementptr i8, ptr %src.1, i64 64
  %dst.after = getelementptr i8, ptr %dst.1, i64 64
  %over.next = sub i64 %over, 64
  br label %few
tail:
  call void @llvm.memcpy.p0.p0.i64(ptr %dst.1, ptr %src.1, i64 %over, i1 false)
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

STREAM_FUNCTION = fill_template(
    _STREAM, {"lines": _LINES, "bytes": 64 * _LINES, "several": _lines(_LINES), "one": _lines(1)}
)
"""The function that stores results around the caches (nontemporal stores), with its declarations."""
