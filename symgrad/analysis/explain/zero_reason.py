"""The reasons for a gradient that is zero by structure, as sentences."""

from __future__ import annotations

from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.noise.dependence import blocking_stops
from symgrad.autodiff.trace import BackwardTrace, ZeroReason
from symgrad.ir.graph import Node
from symgrad.ir.traverse import readers, topological
from symgrad.support.texts import join_texts


def why_nothing(trace: BackwardTrace, index: int, naming: Naming) -> str | None:
    """Return the reason for a structural zero, as a sentence; None for other gradients."""
    node, nothing, y = trace.wrt[index], trace.nothing[index], trace.outputs[0][0]
    if nothing is None:
        return None
    x, name = naming.text(node), naming.text(y)
    match nothing:
        case ZeroReason.NO_TANGENT:
            kind = "an integer" if node.dtype == "int" else "a truth value"
            return f"{x} is {kind}: there is no direction to move it in"
        case ZeroReason.DISCONNECTED:
            return f"{name} does not depend on {x}"
        case ZeroReason.STOPPED:
            stops = ends_of(trace, index)
            edges = "edge is" if len(stops) == 1 else "edges are"
            inside = join_texts([naming.body(s) for s in stops])
            return f"{x} reaches {name} only inside {inside}, whose derivative {edges} cut"
        case ZeroReason.ZERO:
            flat = [naming.body(n) for n in ends_of(trace, index)]
            why = f"{x} reaches {name} only through {join_texts(flat)}, where the derivative is zero"
            return f"every derivative of {name} along the paths to {x} is zero" + (f": {why}" if flat else "")


def ends_of(trace: BackwardTrace, index: int) -> list[Node]:
    """Return the equations at which the derivative with respect to one of wrt ends; none if some of it arrives."""
    node, nothing, y = trace.wrt[index], trace.nothing[index], trace.outputs[0][0]
    if nothing not in (ZeroReason.STOPPED, ZeroReason.ZERO):
        return []
    stops = blocking_stops(y, node)[1]
    return stops if nothing is ZeroReason.STOPPED else [*_flat(y, node), *stops]


def _flat(y: Node, target: Node) -> list[Node]:
    """Return the outermost equations at which derivatives on the way to a node end: jumps and conditions."""
    stops = {n for n in topological([y]) if "stops" in n.op.facts}
    order = topological([y], until=stops)
    above = readers((n for n in order if n not in stops), [target]) - {target}
    found = [
        n for n in reversed(order) if n in above and (n.dtype != "real" or "piecewise-constant" in n.op.facts)
    ]
    return [n for n in found if not any(n in m.args and m.dtype == "bool" for m in found)]
