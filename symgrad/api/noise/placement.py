"""`placement`: find the fewest stop_gradients that remove noise from a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from symgrad.analysis.explain.naming import Naming, naming_of
from symgrad.analysis.explain.noise.lines import step_lines
from symgrad.analysis.stop_gradient.placement import PlacementOutcome, place
from symgrad.analysis.stop_gradient.placements.paths import ValueEdge
from symgrad.api.claims.verify import validate_seconds
from symgrad.api.derivatives.gradient_override import fixed_at, outside_domain
from symgrad.api.derivatives.targets import Wrt, Wrts, differentiable, targets_of
from symgrad.api.explaining.explain import joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.printer import program_text
from symgrad.ir.notation.recurrences import has_recurrences
from symgrad.ir.traverse import topological
from symgrad.ops.control import without_stops
from symgrad.report.report import Reported
from symgrad.support.errors import DomainError, UsageError
from symgrad.support.progress import reports_progress
from symgrad.support.source import Place
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict

_WIDTH = 200  # most characters of a line
_REFERENCE = "noise at its mean"


@dataclass(frozen=True, slots=True)
class StopEdge:
    """A place for a stop_gradient: where an equation reads an argument.

    Attributes:
        equation: the equation, with its name if it has one; None for the result itself, which no equation reads.
        argument: the argument that the equation reads, by name or as an expression.
        position: the position of the argument among all arguments of the equation, from 0.
        places: the lines of code that compute the equation and the argument, if the program was imported from other
            code.
    """

    equation: str | None
    argument: str
    position: int
    places: tuple[Place, ...] = ()

    def __str__(self) -> str:
        return f"on {self.argument}" + ("" if self.equation is None else f" in {self.equation}")


@dataclass(frozen=True, slots=True)
class Placement(Reported):
    """The places for stop_gradients in a program, or the reason why they do not help and a rewrite that does.

    Attributes:
        possible: whether stop_gradients are sufficient; True and False are proved, None is unknown.
        edges: the places, as few as possible; empty if none are needed or found.
        program: the value with these stop_gradients; None if no set of places was found.
        removed: existing stop_gradients of the program that must be removed, as expressions.
        verdict: the verdict that the gradient of ``program``, or else of ``rewrite``, is the reference.
        minimal: ``"proved"`` if it is proved that no smaller set works; else a description of what is known. Empty if
            no set was found.
        reason: why no set works, what is unknown, or that no set is needed.
        rewrite: if there is no set, the program in which the smallest possible part is replaced by ``stop_gradient(f) -
            (stop_gradient(g) - g)``: the same value bit for bit where g is finite.
        lines: the changed lines of the program, for ``program`` or else for ``rewrite``.
        tried: the number of sets of each size that were compared at exact points; edges in series count once.
    """

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:placement_report"

    possible: bool | None
    edges: tuple[StopEdge, ...]
    program: Expr | None
    removed: tuple[str, ...]
    verdict: Verdict | None = field(repr=False)
    minimal: str
    reason: str
    rewrite: Expr | None
    lines: tuple[str, ...]
    tried: Mapping[int, int] = field(repr=False)
    _about: str = field(repr=False)

    def __str__(self) -> str:
        if self.possible and not self.edges and not self.removed:
            return f"nothing to do: {self.reason}" if self.reason else f"nothing to do: {self._about} already"
        lines = [f"  {line}" for line in self.lines]
        if self.program is not None:
            count = len(self.edges)
            found = f"{count} stop_gradients" if count != 1 else "one stop_gradient"
            proved = "is proved" if self.possible else "seems, without a proof,"
            gone = (
                f", if {join_texts(self.removed)} {'go' if len(self.removed) > 1 else 'goes'}"
                if self.removed
                else ""
            )
            how = "proved smallest: every smaller set gives another gradient at an exact point"
            fewest = how if self.minimal == "proved" else self.minimal
            where = f" {'; '.join(map(str, self.edges))}" if count else ""
            return "\n".join(
                [f"{found},{where}{gone}:", *lines, f"{self._about}: that {proved}", fewest]
                if count
                else [f"no stop_gradient{gone}:", *lines, f"{self._about}: that {proved}", fewest]
            )
        head = "no stop_gradient will do" if self.possible is False else "no set of stop_gradients was found"
        said = [f"{head}: {self.reason}."]
        if self.rewrite is not None:
            said += ["instead, with the same value bit for bit:", *lines, f"{self._about}: that is proved"]
        return "\n".join(said)

    def json(self) -> dict[str, Any]:
        """Return a dictionary that `json.dumps` accepts; expressions are program text."""
        return {
            "possible": self.possible,
            "edges": [
                {
                    "equation": e.equation,
                    "argument": e.argument,
                    "position": e.position,
                    "places": [{"file": p.file, "line": p.line, "text": p.text} for p in e.places],
                }
                for e in self.edges
            ],
            "program": None if self.program is None else self.program.text(expand=True),
            "removed": list(self.removed),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "minimal": self.minimal,
            "reason": self.reason,
            "rewrite": None if self.rewrite is None else self.rewrite.text(expand=True),
            "lines": list(self.lines),
            "tried": {str(size): count for size, count in self.tried.items()},
        }


@reports_progress("stops", "placing stop_gradients")
def placement(
    y: Formula,
    wrt: Wrt | Wrts,
    noise: Wrt | Wrts | None = None,
    at: Any = "mean",
    reference: str = _REFERENCE,
    time_limit: float = 10,
) -> Placement:
    r"""Find the fewest stop_gradients that turn a gradient into the gradient of the program without noise.

    The reference is the gradient of the program with the noise fixed, as in `ignore_noise`. A gradient that has lost
    the noise but also another term is not accepted. Places are the edges of the program (an equation reads an argument)
    on derivative paths from y to wrt. Values do not change, and still contain the noise.

    Args:
        y: an expression of any shape; for an array, the derivative of every weighted sum of its entries must be the
            reference.
        wrt: an input or intermediate expression (or its name), or a list of them. A value that depends on the noise
            counts as an input.
        noise: the inputs (or intermediate values) that are noise, one or a list, or their names. It is required.
        at: the value of the fixed noise, as for `ignore_noise`: ``"mean"``, a number or Expr, or a mapping.
        reference: only ``"noise at its mean"``.
        time_limit: approximate seconds.

    Returns:
        A `Placement`. It prints the places and the changed lines; or the proof that there are none, and the smallest
        part to rewrite.

    Raises:
        NotInProgramError: for a name or expression that is not in the program.
        NotDifferentiableError: if y is a truth value.
        UsageError: if ``wrt`` is noise; if noise has neither a declared distribution nor a value in ``at``; or for
            another reference.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real\nu ~ Normal(0, 1)\nf = sin(x)\ng = cos(x)\ny = f + g*u")
        >>> print(sg.placement(p["y"], "x", "u"))
        one stop_gradient, on g in g*u:
          y = f + stop_gradient(g)*u
        the gradient by x is that with u at its mean: that is proved
        proved smallest: every smaller set gives another gradient at an exact point
    """
    expr = differentiable(y)
    if reference != _REFERENCE:
        raise UsageError(
            f"reference={reference!r}",
            expected=repr(_REFERENCE),
            cure="against the expected value a noisy gradient is right on average as it stands: "
            "sg.audit(y, wrt, 'expected value') tells its bias"
            if reference == "expected value"
            else None,
        )
    if noise is None:
        raise _no_noise(expr)
    seconds = validate_seconds(time_limit)
    by, noise_inputs = targets_of(expr, wrt), targets_of(expr, noise)
    for what, exprs, such in (
        ("to differentiate by", by, "wrt='x'"),
        ("that is noise", noise_inputs, "noise='u'"),
    ):
        if not exprs:
            raise UsageError(f"there is nothing {what}", cure=f"name at least one input: {such}")
    _check(by, noise_inputs)
    fixed = list(zip(noise_inputs, fixed_at(noise_inputs, at), strict=True))
    listing = joined_listing(expr.listings)
    naming = naming_of(expr.node, listing)
    below = set(topological([expr.node]))
    read = [(u, f) for u, f in fixed if u.node in below]
    text = _goal_text(by, read or fixed, at)
    if not read:
        names = join_texts([naming.text(u.node) for u in noise_inputs])
        reason = f"{naming.text(expr.node)} does not depend on {names}"
        return Placement(True, (), expr, (), None, "proved", reason, None, (), {}, text)
    try:
        found = place(expr.node, [w.node for w in by], {u.node: f.node for u, f in read}, naming, seconds)
    except DomainError as error:
        raise outside_domain(error, read) from None
    if found.possible is None and listing is not None:
        reads = [
            f"{left} reads {join_texts(some)}"
            for u, _ in read
            for left, some, _ in step_lines(expr.node, u.node, naming, listing)
        ]
        if reads:
            found = replace(found, reason=f"{found.reason}: {'; '.join(reads)}")
    return _placement(expr, found, naming, listing, text)


def _no_noise(expr: Expr) -> UsageError:
    drawn = [str(i.name) for i in expr.inputs if i.node.declaration.distribution is not None]
    if not drawn:
        return UsageError(
            "no noise is named, and the program reads no random input",
            expected="noise=, what the gradient is not to carry",
            cure="declare it, as in u ~ Normal(0, 1), or name an input and what it is fixed at: noise='u', at=1",
        )
    return UsageError(
        "no noise is named",
        expected=f"noise=, of the random inputs {join_texts(drawn)}",
        cure=f"name it: sg.placement(y, wrt, noise={drawn if len(drawn) > 1 else drawn[0]!r})",
    )


def _check(by: Sequence[Expr], noise: Sequence[Expr]) -> None:
    drawn = {u.node for u in noise}
    for w in by:
        if w.node in drawn:
            raise UsageError(
                f"'{w}' is noise, and the gradient with respect to it would be noise, too",
                expected="an input that is not noise",
            )
        inside = set(topological([w.node])) - {w.node}
        if inside & drawn and (other := next((v for v in by if v.node in inside), None)) is not None:
            raise UsageError(
                f"'{w}' is computed from the noise and from '{other}'",
                expected="one of them",
                cure=f"ask about '{w}' alone: it counts as an input then",
            )


def _goal_text(by: Sequence[Expr], fixed: Sequence[tuple[Expr, Expr]], at: Any) -> str:
    """Describe the goal of the placement."""
    names = [str(u.name or u) for u, _ in fixed]
    if isinstance(at, str):
        what = f"{join_texts(names)} at {'its mean' if len(names) == 1 else 'their means'}"
    else:
        what = join_texts([f"{n} = {f}" for n, (_, f) in zip(names, fixed, strict=True)])
    return f"the gradient by {join_texts([str(w.name or w) for w in by])} is that with {what}"


def _placement(
    expr: Expr, found: PlacementOutcome, naming: Naming, listing: Listing | None, text: str
) -> Placement:
    y, outer = expr.node, found.outer
    nodes = found.nodes if outer is None else outer.nodes
    names = dict(naming.names)
    if found.removed:
        names |= {n: names[m] for m, n in without_stops([y], set(found.removed)).items() if m in names}
    naming_after = replace(naming, names=names)
    extra: dict[Node, str] = {}
    if outer is not None and outer.calm.args and outer.calm not in names:
        extra[outer.calm] = free_name("g", {*names.values(), *(() if listing is None else listing.names)})
    lines = _lines(y, nodes, naming_after, extra) if nodes else ()
    changed = _expr(expr, nodes, listing, extra) if nodes else None
    has_program = found.cut or found.removed or found.possible
    return Placement(
        found.possible,
        tuple(_edge(e, naming_after) for e in found.cut),
        (expr if changed is None else changed) if has_program else None,
        tuple(naming.body(s) for s in found.removed),
        found.verdict,
        found.minimal,
        found.reason,
        changed if outer is not None else None,
        lines,
        found.tried,
        text,
    )


def _edge(edge: ValueEdge, naming: Naming) -> StopEdge:
    node = edge.node
    body = None if node is None else naming.body(node)
    name = None if node is None else naming.names.get(node)
    equation = body if name is None else f"{name} = {body}"
    nodes = [edge.target] if node is None else [node, edge.target]
    return StopEdge(equation, naming.text(edge.target), edge.argument, naming.lines(nodes))


def _lines(y: Node, nodes: Mapping[Node, Node], naming: Naming, extra: Mapping[Node, str]) -> tuple[str, ...]:
    """Return the changed lines of a program, after the definitions of new names."""
    if has_recurrences([y]):
        names = {n: name for n, name in naming.names.items() if n.args and n in nodes}
        before, after = (
            program_text({}, {new.get(n, n): name for n, name in named.items()}, result=new[y]).splitlines()
            for new, named in (({y: y}, names), (nodes, {**extra, **names}))
        )
        return tuple(line for line in after if line not in before)
    known = {nodes[n]: name for n, name in naming.names.items() if n in nodes and (n.args or nodes[n] is n)}
    after = replace(naming, names={**known, **extra})
    lines = [f"{name} = {after.body(n, _WIDTH)}" for n, name in extra.items()]
    for old in topological([y]):
        name = naming.names.get(old)
        if nodes[old] is old or not old.args or (name is None and old is not y):
            continue
        text = after.body(nodes[old], _WIDTH)
        if text != naming.body(old, _WIDTH):
            lines.append(text if name is None else f"{name} = {text}")
    return tuple(lines)


def _expr(expr: Expr, nodes: Mapping[Node, Node], listing: Listing | None, extra: Mapping[Node, str]) -> Expr:
    """Return the changed value, in a program with the same names."""
    if listing is None:
        return Expr(nodes[expr.node])
    symbols = {n: s for n, s in listing.symbols.items() if s.op is SYMBOL}
    assigned = {name: nodes.get(n, n) for name, n in listing.assignments.items()}
    changed = replace(
        listing,
        symbols={**listing.symbols, **symbols},
        assignments={**{name: n for n, name in extra.items()}, **assigned},
        result=None,
        source=None,
        spans={},
        name_spans={},
        places={nodes.get(n, n): p for n, p in listing.places.items()},
    )
    return Expr(nodes[expr.node], listings=(changed,))
