"""The rewrite engine: rewrite a graph bottom up to a fixpoint, bounded and deterministic, and record every step.

A round visits each node once, arguments first, after its arguments are replaced by their normal forms; then it visits
the results of rules. Rounds repeat until a round changes nothing. A shared node is rewritten once and stays shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from symgrad.ir.graph import Node
from symgrad.ir.traverse import uses, with_args
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pattern import Bindings, View, instantiate, match
from symgrad.rewrite.rule import Rule, RuleSet
from symgrad.rewrite.trace import UNDEFINED, Note, Soundness, Step, Trace
from symgrad.support.errors import NumberTooLargeError
from symgrad.support.progress import reports_progress


class Normaliser(View, Protocol):
    """A normal form for associative, commutative ops, in addition to the rules."""

    def inner(self, child: Node, parent: Node) -> bool:
        """Tell whether a child, whose only user is this parent, is flattened into the parent, and has no own form."""
        ...

    def step(self, node: Node) -> Step | None:
        """Return the step that brings a node with normal arguments nearer to the normal form, or None."""
        ...


class NormaliserFor(Protocol):
    """Creates the normaliser of one round."""

    def __call__(self, current: Round) -> Normaliser: ...


@dataclass(slots=True)
class Round:
    """One pass over the graph.

    Args:
        rules: the matched rules.
        known: facts about nodes, shared by all rounds.
        budget: the number of steps left, over all rounds.
        done: the normal form of every visited node.
        raw: nodes that are flattened into their only user, so they have no normal form.
        settled: results in normal form, which need no visit in this round.
        made: nodes that this round created.
        normal: cached normal forms of nodes that are not flattened.
    """

    rules: RuleSet
    known: Conditions
    budget: int
    done: dict[Node, Node] = field(default_factory=dict[Node, Node])
    raw: set[Node] = field(default_factory=set[Node])
    settled: set[Node] = field(default_factory=set[Node])
    made: set[Node] = field(default_factory=set[Node])
    normal: Mapping[Node, Node] = field(default_factory=dict[Node, Node])
    steps: list[Step] = field(default_factory=list[Step])


def rewrite(
    outputs: Sequence[Node],
    rules: RuleSet,
    normaliser_for: NormaliserFor,
    *,
    known: Conditions | None = None,
    steps_per_node: int = 30,
    rounds: int = 12,
    normal: dict[Node, Node] | None = None,
) -> tuple[list[Node], Trace]:
    """Rewrite outputs until no rule applies to any of them.

    Args:
        outputs: the nodes to rewrite; shared nodes stay shared.
        rules: the rules.
        normaliser_for: creates the normal form of sums and products for a round.
        known: facts about nodes, if some were computed before.
        steps_per_node: bound on the number of steps, per node of the outputs.
        rounds: bound on the number of passes.
        normal: a cache of normal forms by the same rules and facts; new forms are added.

    Returns:
        The rewritten outputs and the trace.
    """
    trace = Trace()
    known = known or Conditions()
    current = list(outputs)
    users = uses(current)
    budget = 1000 + steps_per_node * len(users)
    seen: set[tuple[Node, ...]] = set()
    passed: list[dict[Node, Node]] = []
    while True:
        seen.add(tuple(current))
        this = Round(rules, known, budget, normal=normal or {})
        equations = partial(_equations, len(users), this) if normal is None else None
        with reports_progress(
            "rewrite", f"rewriting, round {trace.rounds + 1}", equations, count=this.done.__len__
        ):
            after = _one_round(current, users, this, normaliser_for(this))
        trace.steps += this.steps
        trace.rounds += 1
        budget = this.budget
        if normal is not None:
            passed.append(
                {n: form for n, form in this.done.items() if n not in this.raw and form not in this.raw}
            )
        if after == current:
            if normal is not None:
                _remember(normal, passed)
            return current, trace
        current, users = after, uses(after)
        if budget <= 0 or trace.rounds >= rounds or tuple(current) in seen:
            trace.stopped = "budget"
            return current, trace


def _equations(before: int, this: Round) -> int:
    """Return the number of equations of a round: the equations of the graph, and new equations so far."""
    return before + len(this.made)


def _remember(normal: dict[Node, Node], passed: Sequence[Mapping[Node, Node]]) -> None:
    """Add the normal forms of nodes after all rounds, if the nodes had their own form in each round."""
    for node, form in passed[0].items():
        for after in passed[1:]:
            found = after.get(form)
            if found is None:
                break
            form = found
        else:
            normal[node] = normal[form] = form


def _one_round(
    outputs: list[Node], users: Mapping[Node, int], this: Round, normaliser: Normaliser
) -> list[Node]:
    flattened = _flattened(users, normaliser)
    becomes: dict[Node, Node] = {}
    done = this.done
    made = this.made  # these flatten their arguments when they are visited
    for output in outputs:
        stack = [output]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            known = this.normal.get(node)
            if known is not None and node not in flattened:
                done[node] = known
                stack.pop()
                continue
            target = becomes.get(node)
            if target is not None:
                stack.pop()
                # A rule that wraps its own left side would loop: the node stays.
                done[node] = done.get(target, node)
                continue
            missing = [a for a in node.args if a not in done]
            if missing:
                if node in made:
                    flattened.update(a for a in missing if normaliser.inner(a, node))
                    made.update(missing)
                stack.extend(reversed(missing))
                continue
            rebuilt = with_args(node, [done[a] for a in node.args])
            if node in flattened:
                this.raw.add(rebuilt)
                done[node] = rebuilt
                stack.pop()
                continue
            if rebuilt is not node:
                target = rebuilt
            else:
                step = _step(node, this, normaliser) if this.budget > 0 else None
                # A step back to a node in progress would loop: the node stays until the next round.
                if step is None or (step.after in becomes and step.after not in done):
                    done[node] = node
                    stack.pop()
                    continue
                this.steps.append(step)
                this.budget -= 1
                target = step.after
            if target in this.settled:
                made.add(target)
                done.setdefault(target, target)
            if target in done:
                done[node] = done[target]
                stack.pop()
            elif target in becomes:
                done[node] = rebuilt
                stack.pop()
            else:
                becomes[node] = target
                made.add(target)
                stack.append(target)
    return [done[o] for o in outputs]


def _flattened(users: Mapping[Node, int], normaliser: Normaliser) -> set[Node]:
    """Return the nodes that are flattened into their only user."""
    return {
        arg
        for node in users
        for arg in node.args
        if users[arg] == 1 and arg.args and normaliser.inner(arg, node)
    }


def _step(node: Node, this: Round, normaliser: Normaliser) -> Step | None:
    """Return the step from a node; None if its numbers would be too long."""
    try:
        return _step_by_rules(node, this, normaliser)
    except NumberTooLargeError:
        return None


def _step_by_rules(node: Node, this: Round, normaliser: Normaliser) -> Step | None:
    step = normaliser.step(node)
    if step is not None and _same_type(step.before, step.after):
        return step
    if normaliser.sees(node.op.name):
        return None
    for rule in this.rules.headed(node.op.name):
        for bindings in match(rule.pattern, node, {}, normaliser):
            if applicable(rule, bindings, this.known):
                step = apply_rule(rule, node, instantiate(rule.replacement, bindings), bindings, this.known)
                if step.after is not node and _same_type(node, step.after):
                    return step
    return None


def _same_type(before: Node, after: Node) -> bool:
    """Tell whether a replacement has the shape and type of a node; an integer may replace a real."""
    if before.shape != after.shape:
        return False
    return before.dtype == after.dtype or (before.dtype == "real" and after.dtype == "int")


def applicable(rule: Rule, bindings: Bindings, known: Conditions) -> bool:
    """Tell whether the condition of a rule provably holds."""
    return rule.condition is None or _holds(rule.condition, bindings, known)


def _holds(condition: Node, bindings: Bindings, known: Conditions) -> bool:
    """Tell whether a condition on metavariables provably holds; the last conjunct, the simplest, comes first."""
    if condition.op.name == "and_":
        return all(_holds(part, bindings, known) for part in reversed(condition.args))
    if condition.op.name == "or_":
        return any(_holds(part, bindings, known) for part in condition.args)
    return known.holds(instantiate(condition, bindings)) == "yes"


def apply_rule(rule: Rule, before: Node, after: Node, bindings: Bindings, known: Conditions) -> Step:
    """Return the step of a rule, with its soundness for these operands.

    Facts can make a rule exact that widens the domain in general. An exact rule widens the domain if it drops an
    operand that may be undefined.
    """
    notes: list[Note] = []
    soundness: Soundness = "exact"
    exact = rule.exact_when is not None and _holds(rule.exact_when, bindings, known)
    if rule.soundness != "exact" and not exact and rule.note is not None:
        soundness = rule.soundness
        name = rule.note[rule.note.index("{") + 1 : rule.note.index("}")]
        about = next(v for v in bindings if v.name == name)
        notes.append(Note(rule.note.replace(f"{{{name}}}", "{}"), bindings[about]))
    dropped = undefined_somewhere((bindings[v] for v in rule.dropped), known)
    return Step(rule.name, before, after, "widens" if dropped else soundness, (*notes, *dropped))


def undefined_somewhere(dropped: Iterable[Node], known: Conditions) -> list[Note]:
    """Return a note for every dropped operand that may be undefined somewhere."""
    return [Note(UNDEFINED, node) for node in dropped if known.defined(node) != "yes"]
