"""The matrix exponential, by scaling and squaring with the Taylor polynomial of degree 16.

The matrix is halved until its infinity norm is at most 3/4. The backward error of the polynomial is then below the unit
roundoff of double precision (A. H. Al-Mohy & N. J. Higham, SIAM J. Sci. Comput. 33, 2011, table 3.1). The polynomial is
evaluated by the scheme of Paterson and Stockmeyer with six products. The first n rows of the memory are the result; the
other rows hold the powers.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType

COEFFICIENTS = tuple(Fraction(1, factorial(k)) for k in range(17))
MAX_ROW_SUM = Fraction(3, 4)
"""The coefficients of the polynomial, with the constant first, and the largest infinity norm for which it is
accurate."""


def exponential_text(real: FloatType, product: str) -> str:
    """Return the functions.

    Args:
        real: the format.
        product: the name of the function of a matrix product.
    """
    c = [real.literal(real.round(x)) for x in COEFFICIENTS]
    one = real.literal(real.round(1))

    def block(to: str, of: str, k: str, first: int | None) -> str:
        terms = c[first : first + 4] if first is not None else ["0.0"] * 4
        values = ", ".join(f"{real.llvm} {v}" for v in (k, *terms))
        return (
            f"  call void @exponential.terms(ptr {to}, ptr {of}, ptr %a, ptr %a2, ptr %a3, i64 %n, {values})"
        )

    def times(a: str, b: str, to: str) -> str:
        return f"  call void @{product}(ptr {a}, ptr {b}, ptr {to}, {', '.join(['i64 %n'] * 6)})"

    steps = [times("%a", "%a", "%a2"), times("%a2", "%a", "%a3"), times("%a2", "%a2", "%a4")]
    steps.append(block("%t", "%a4", c[16], 12))
    for first in (8, 4, 0):
        steps += [times("%t", "%a4", "%out"), block("%t" if first else "%out", "%out", one, first)]
    square = [times("%out", "%out", "%t"), block("%out", "%t", one, None)]
    parts = {
        "steps": "\n".join(steps),
        "square": "\n".join(square),
        "largest": real.literal(real.round(MAX_ROW_SUM)),
        "t": real.llvm,
    }
    return fill_template(_TERMS, {"t": real.llvm}) + fill_template(_MAIN, parts)


# to = k*of + c0 + c1*a + c2*a2 + c3*a3
_TERMS = """\
define internal void @exponential.terms(
  ptr %to, ptr %of, ptr %a, ptr %a2, ptr %a3, i64 %n, ${t} %k, ${t} %c0, ${t} %c1, ${t} %c2, ${t} %c3) #0 {
entry:
  %count = mul i64 %n, %n
  %below = add i64 %n, 1
  br label %each
each:
  %i = phi i64 [ 0, %entry ], [ %i.next, %each ]
  %next = phi i64 [ 0, %entry ], [ %next.next, %each ]
  %of.at = getelementptr ${t}, ptr %of, i64 %i
  %a.at = getelementptr ${t}, ptr %a, i64 %i
  %a2.at = getelementptr ${t}, ptr %a2, i64 %i
  %a3.at = getelementptr ${t}, ptr %a3, i64 %i
  %to.at = getelementptr ${t}, ptr %to, i64 %i
  %of.value = load ${t}, ptr %of.at
  %a.value = load ${t}, ptr %a.at
  %a2.value = load ${t}, ptr %a2.at
  %a3.value = load ${t}, ptr %a3.at
  %t0 = fmul ${t} %k, %of.value
  %t1 = fmul ${t} %c1, %a.value
  %t2 = fmul ${t} %c2, %a2.value
  %t3 = fmul ${t} %c3, %a3.value
  %s3 = fadd ${t} %t3, %t2
  %s2 = fadd ${t} %s3, %t1
  %diagonal = icmp eq i64 %i, %next
  %c = select i1 %diagonal, ${t} %c0, ${t} 0.0
  %s1 = fadd ${t} %s2, %c
  %s0 = fadd ${t} %s1, %t0
  store ${t} %s0, ptr %to.at
  %following = add i64 %next, %below
  %next.next = select i1 %diagonal, i64 %following, i64 %next
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %each, label %done
done:
  ret void
}
"""

_MAIN = """\
define internal void @factors.exponential(ptr %x, ptr %out, i64 %n) #0 {
entry:
  %count = mul i64 %n, %n
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %rows
rows:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %norm = phi ${t} [ 0.0, %entry ], [ %norm.next, %row.end ]
  %finite = phi i1 [ true, %entry ], [ %finite.next, %row.end ]
  %row = mul i64 %r, %n
  br label %columns
columns:
  %j = phi i64 [ 0, %rows ], [ %j.next, %columns ]
  %sum = phi ${t} [ 0.0, %rows ], [ %sum.next, %columns ]
  %at = add i64 %row, %j
  %x.at = getelementptr ${t}, ptr %x, i64 %at
  %x.value = load ${t}, ptr %x.at
  %x.minus = fneg ${t} %x.value
  %x.below = fcmp olt ${t} %x.value, 0.0
  %x.size = select i1 %x.below, ${t} %x.minus, ${t} %x.value
  %sum.next = fadd ${t} %sum, %x.size
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %n
  br i1 %j.more, label %columns, label %row.end
row.end:
  %larger = fcmp ogt ${t} %sum.next, %norm
  %norm.next = select i1 %larger, ${t} %sum.next, ${t} %norm
  %usable = fcmp olt ${t} %sum.next, 0x7FF0000000000000
  %finite.next = and i1 %finite, %usable
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %n
  br i1 %r.more, label %rows, label %known
known:
  br i1 %finite.next, label %halve, label %fill
fill:
  %f = phi i64 [ 0, %known ], [ %f.next, %fill ]
  %f.at = getelementptr ${t}, ptr %out, i64 %f
  store ${t} 0x7FF8000000000000, ptr %f.at
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %count
  br i1 %f.more, label %fill, label %done
halve:
  %size = phi ${t} [ %norm.next, %known ], [ %size.next, %half ]
  %scale = phi ${t} [ 1.0, %known ], [ %scale.next, %half ]
  %halvings = phi i64 [ 0, %known ], [ %halvings.next, %half ]
  %large = fcmp ogt ${t} %size, ${largest}
  br i1 %large, label %half, label %start
half:
  %size.next = fmul ${t} %size, 0.5
  %scale.next = fmul ${t} %scale, 0.5
  %halvings.next = add i64 %halvings, 1
  br label %halve
start:
  %t = getelementptr ${t}, ptr %out, i64 %count
  %a = getelementptr ${t}, ptr %t, i64 %count
  %a2 = getelementptr ${t}, ptr %a, i64 %count
  %a3 = getelementptr ${t}, ptr %a2, i64 %count
  %a4 = getelementptr ${t}, ptr %a3, i64 %count
  br label %scaled
scaled:
  %i = phi i64 [ 0, %start ], [ %i.next, %scaled ]
  %from = getelementptr ${t}, ptr %x, i64 %i
  %to = getelementptr ${t}, ptr %a, i64 %i
  %value = load ${t}, ptr %from
  %less = fmul ${t} %value, %scale
  store ${t} %less, ptr %to
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %count
  br i1 %i.more, label %scaled, label %polynomial
polynomial:
${steps}
  %any = icmp sgt i64 %halvings, 0
  br i1 %any, label %square, label %done
square:
  %s = phi i64 [ 0, %polynomial ], [ %s.next, %square ]
${square}
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %halvings
  br i1 %s.more, label %square, label %done
done:
  ret void
}
"""
