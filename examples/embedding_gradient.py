"""The gradient by word embeddings, without disturbing training.

A CBOW step of word2vec: the mean of the context words' embeddings predicts the word in the middle. The gradient by the
gathered rows, an intermediate value, is what an adversarial step needs; asking for it must not change the training.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import symgrad as sg

VOCABULARY, DIMENSION, BATCH, CONTEXT, NOISE = 50, 8, 16, 4, 5

program = sg.parse(
    """
    ids    : int[b, c]
    word   : int[b]
    noise  : int[b, k]
    table  : real[v, d]
    output : real[v, d]
    rows   = table[ids]
    h      = mean(rows, axis=1)
    scores = h@output.T
    loss   = mean(logsumexp(scores, axis=1) - scores[arange(b), word])
    good   = sum(h*output[word], axis=1)
    bad    = einsum("bd,bkd->bk", h, output[noise])
    sampled = mean(softplus(-good) + sum(softplus(bad), axis=1))
    """
)
loss, rows, table, output = (program[name] for name in ("loss", "rows", "table", "output"))
inputs = [program[name] for name in ("ids", "word", "table", "output")]

by_rows = sg.grad(loss, rows)
by_table, by_output = sg.grad(loss, [table, output])
print("d loss/d rows  has shape", by_rows.shape, "- one row for every word of a context")
print("d loss/d table =", by_table.canonical())

kernel = sg.compile([loss, by_table, by_output], inputs=inputs)
extra = sg.compile(by_rows, inputs=inputs)


def random(*key: int) -> np.random.Generator:
    """Randomness is an input with a name: whoever asks for key (2, 5) gets the same numbers, whatever ran before."""
    return np.random.Generator(np.random.Philox(key=np.array(key, dtype=np.uint64)))


def batch(step: int) -> tuple[Any, Any]:
    draw = random(1, step)
    # A corpus with some structure: a word follows from the first word of its context.
    ids = draw.integers(0, VOCABULARY, (BATCH, CONTEXT))
    return ids, (ids[:, 0] + 1) % VOCABULARY


def weights() -> tuple[Any, Any]:
    draw = random(0, 0)
    return draw.normal(size=(VOCABULARY, DIMENSION)), draw.normal(size=(VOCABULARY, DIMENSION))


def train(*, look: bool, steps: int = 100) -> list[float]:
    """Train, and on the way compute the gradient by the embeddings, or not."""
    t, o = weights()
    losses: list[float] = []
    for step in range(steps):
        ids, word = batch(step)
        value, slope_t, slope_o = kernel(ids, word, t, o)
        if look:
            extra(ids, word, t, o)
        losses.append(float(value))
        t, o = t - 5 * slope_t, o - 5 * slope_o
    return losses


t, o = weights()
ids, word = batch(0)

# The gradient by the table is the gradient by the rows, added up where a word occurs. Rows and indices say it in less
# space; the dense one is their sum.
dense = kernel(ids, word, t, o)[1]
sparse = np.zeros_like(t)
np.add.at(sparse, ids, extra(ids, word, t, o))
print("rows and indices add up to the dense gradient:", np.allclose(dense, sparse, rtol=1e-13, atol=1e-16))

# An adversarial step: move every embedding a little along the sign of its gradient.
perturbed = sg.compile(loss.subs({rows: rows + 0.1 * sg.sign(by_rows)}), inputs=inputs)
print(
    f"loss {float(kernel(ids, word, t, o)[0]):.4f}, after the adversarial step {float(perturbed(ids, word, t, o)):.4f}"
)

plain, looked = train(look=False), train(look=True)
print(f"100 steps: loss {plain[0]:.3f} -> {plain[-1]:.3f}")
print("bit-identical with the extra gradient computed in between:", plain == looked)

# The same step with sampled noise words instead of the whole vocabulary: the noise words are one more input.
sampled = program["sampled"]
step = sg.compile(
    [sampled, *sg.grad(sampled, [table, output])], inputs=[*inputs[:2], program["noise"], *inputs[2:]]
)
value, *slopes = step(ids, word, random(2, 0).integers(0, VOCABULARY, (BATCH, NOISE)), t, o)
print(f"sampled loss {float(value):.3f}, gradients of shapes {[s.shape for s in slopes]}")

# Why do people see another loss after adding such a gradient in TensorFlow? There, an operation without a seed of its
# own gets one from the number of operations made before it. One operation more, and every later one draws from another
# stream: other initial weights, other noise words. Nothing was trained; the dice were thrown in another order.


def first_loss(operations_before: int) -> float:
    """The first loss when the weights' seed counts the operations that were made before them."""
    draw = random(3, operations_before)
    t = draw.normal(size=(VOCABULARY, DIMENSION))
    return float(kernel(ids, word, t, o)[0])


print(
    f"seeds that count operations: {first_loss(17):.4f} before, {first_loss(18):.4f} with one operation more"
)
