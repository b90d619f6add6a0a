"""The parts of an answer that are formulas and reasons: gradient, verdict, derivation, noise, picture, LaTeX."""

from __future__ import annotations

import symgrad
from symgrad.api.handles.told import latex_together, leibniz_of, title, together
from symgrad.errors import UsageError
from symgrad.reasons.derivation import DerivationStep
from symgrad.web.blocks import Block, code, fold, picture, text, verdict_block
from symgrad.web.limits import VERDICT_SECONDS
from symgrad.web.question import Question

__all__ = ["derivation", "gradient", "graph", "latex", "moments", "noise", "verdict"]


def gradient(question: Question) -> list[Block]:
    """Return the derivatives as formulas, with where they are defined although the program is not."""
    exprs = question.gradients
    said, below, notes = together(exprs)
    lines: list[str] = []
    for w, g, formula, about in zip(question.wrt, exprs, said, notes, strict=True):
        lines.append(f"{title(question.y, [w])} = {formula}")
        if g.nothing is not None:
            lines[-1] += f"    # {g.nothing}"
        lines += [f"    # {note}" for note in about]
    return [code("\n".join([*lines, *below]))]


def verdict(question: Question) -> list[Block]:
    """Return whether a derivative that somebody claims is right; nothing where none is claimed."""
    claim = question.said("claim")
    if not claim:
        return []
    if len(question.wrt) != 1:
        names = ", ".join(str(w) for w in question.wrt)
        raise UsageError(f"a claim is about one derivative, not those by {names}", cure="say by which one")
    found = symgrad.verify(question.y, question.wrt[0], claim, time_limit=VERDICT_SECONDS)
    blocks = [verdict_block(found.status, str(found))]
    if found.proof is not None:
        blocks.append(fold("the proof, for symgrad check", [code(found.proof.to_json())]))
    return blocks


def derivation(question: Question) -> list[Block]:
    """Return how the gradient comes about, from the output back, each line with what gives it."""
    found = question.derivation
    blocks = [
        fold(f"{line.name} = {line.formula}", [text(f"by the rule of {line.rule}" if line.rule else "the seed")])
        for line in found.lines
    ]
    steps = [fold(f"{s.number}. {s.rule}: {s.equation}", [_step(s)]) for s in found.steps]
    if steps:
        blocks.append(fold(f"every pullback ({len(steps)})", steps))
    if found.gaps:
        blocks += [text(f"There is no value, but a limit: {gap.what} where {gap.where}.") for gap in found.gaps]
    return blocks


def _step(step: DerivationStep) -> Block:
    rows = [
        ("reads", ", ".join(step.reads) or "nothing"),
        ("partial", step.partial),
        ("receives", step.incoming),
        ("passes", f"{step.produced}  to  {step.target}"),
    ]
    return code("\n".join(f"{label:9} {said}" for label, said in rows))


_NOISE = {True: "enters", False: "free", None: "open"}


def noise(question: Question) -> list[Block]:
    """Return whether each random input enters the gradient, and by which path."""
    found = question.derivation
    blocks: list[Block] = []
    for v in found.noise.values():
        lines = [f"{v.headline}: {v.reason}."]
        if v.path:
            lines.append("path: " + " <- ".join(v.path))
        lines.append(f"witness: {v.witness}" if v.witness is not None else f"evidence: {v.how}")
        lines += [f"{clean}." for clean in v.clean]
        cures = dict.fromkeys(clean.cure for clean in v.clean if clean.cure is not None)
        lines += [f"to remove it: {cure}" for cure in cures]
        blocks.append(verdict_block(_NOISE[v.enters], "\n".join(lines)))
    for jump in found.jumps:
        added = [f"add to that by {name}: {formula}" for name, formula in jump.additions.items()]
        blocks.append(verdict_block("enters", "\n".join([f"{jump.headline}: {jump.reason}.", *added])))
    if not blocks:
        blocks.append(text("The program has no random input. Declare one: u ~ Uniform(0.9, 1.1)"))
    return blocks


def moments(question: Question) -> list[Block]:
    """Return mean, variance and bias of the gradient over the random inputs."""
    if not question.derivation.noise:
        return [text("The program has no random input to average over.")]
    return [code(str(symgrad.audit(question.y, list(question.wrt))))]


def graph(question: Question) -> list[Block]:
    """Return a picture of the graph, with the ways of noise and of derivatives."""
    return [picture(question.derivation.svg(), f"The graph of {question.y.name or 'the formula'}")]


def latex(question: Question) -> list[Block]:
    """Return the derivatives, and the derivation, as LaTeX."""
    names = [leibniz_of(question.y, [w]) for w in question.wrt]
    blocks = [code(latex_together(question.gradients, names), "the gradient")]
    if not question.y.shape:
        blocks.append(code(question.derivation.latex(), "the derivation"))
    return blocks
