"""Gradients of array programs as a person would write them: a list reviewed by eye."""

from __future__ import annotations

from collections.abc import Callable

import symgrad as sg

DATA = "X : real[n, d]\ny : real[n]\nw : real[d]\nb, lam : real\n"
CLASSES = "X : real[n, d]\nY : real[n, k]\nW : real[d, k]\n"
NET = "X : real[n, d]\ny : real[n]\nW1 : real[d, h]\nb1, w2 : real[h]\n"
MATRICES = "A : real[n, m]\nB : real[m, n]\nC : real[n, m]\n"
SQUARE = "A : real[n, n]\nx, y : real[n]\n"
VECTORS = "x, y : real[n]\n"
ATTENTION = (
    "Q : real[n, d]\nK : real[m, d]\nV, G : real[m, k]\nH : real[n, k]\nP = softmax(Q@K.T/sqrt(d), axis=1)\n"
)

# Programs, and what to differentiate by.
PROGRAMS = {
    "least squares": (DATA + "mean((X@w + b - y)**2)", "w, b"),
    "sum of squares": (DATA + "sum((X@w - y)**2)/2", "w"),
    "ridge": (DATA + "sum((X@w - y)**2) + lam*w@w", "w, lam"),
    "weighted least squares": (DATA + "s : real[n]\nsum(s*(X@w - y)**2)", "w, s"),
    "logistic regression": (DATA + "mean(log1p(exp(-y*(X@w))))", "w"),
    "logistic regression, softplus": (DATA + "sum(softplus(X@w) - y*(X@w))", "w"),
    "poisson regression": (DATA + "sum(exp(X@w) - y*(X@w))", "w"),
    "huber regression": (DATA + "r = X@w - y\nsum(where(abs(r) < 1, r**2/2, abs(r) - 1/2))", "w"),
    "cross entropy of logits": ("z, t : real[k]\n-sum(t*log_softmax(z))", "z, t"),
    "logsumexp": ("z, t : real[k]\nlogsumexp(z) - z@t", "z"),
    "softmax regression": (CLASSES + "-sum(Y*log_softmax(X@W, axis=1))/n", "W"),
    "mean of a softmax": ("z, t : real[k]\nsoftmax(z)@t", "z"),
    "trace of a product": (MATRICES + "trace(A@B)", "A, B"),
    "sum of a product": (MATRICES + "sum(A@B)", "A, B"),
    "inner product of matrices": (MATRICES + "sum(A*C)", "A"),
    "frobenius": (MATRICES + "sum(A**2)", "A"),
    "quadratic form": (SQUARE + "x@A@x", "x, A"),
    "bilinear form": (SQUARE + "x@A@y", "x, y, A"),
    "rayleigh quotient": (SQUARE + "x@A@x/(x@x)", "x"),
    "log of a quadratic form": (SQUARE + "log(1 + x@A@x)", "x"),
    "norm": (VECTORS + "norm(x)", "x"),
    "distance": (VECTORS + "norm(x - y)", "x"),
    "cosine similarity": (VECTORS + "x@y/(norm(x)*norm(y))", "x"),
    "mean": (VECTORS + "mean(x)", "x"),
    "variance": (VECTORS + "var(x)", "x"),
    "covariance": (VECTORS + "mean((x - mean(x))*(y - mean(y)))", "x"),
    "entropy": ("p : positive[n]\n-sum(p*log(p))", "p"),
    "gaussian log likelihood": (
        "x : real[n]\nmu : real\ns : positive\n-sum((x - mu)**2)/(2*s**2) - n*log(s)",
        "mu, s",
    ),
    "matrix factorisation": ("R : real[n, m]\nU : real[n, k]\nV : real[m, k]\nsum((R - U@V.T)**2)", "U, V"),
    "principal components": ("X : real[n, d]\nW : real[d, k]\nsum((X - X@W@W.T)**2)", "W"),
    "linear network": (
        "X : real[n, d]\nY : real[n, k]\nA : real[d, h]\nB : real[h, k]\nsum((X@A@B - Y)**2)",
        "A, B",
    ),
    "network with one hidden layer": (NET + "mean((tanh(X@W1 + b1)@w2 - y)**2)", "W1, b1, w2"),
    "relu network": (NET + "sum((relu(X@W1 + b1)@w2 - y)**2)", "w2, W1"),
    "attention": (ATTENTION + "sum((P@V)*H)", "V, Q, K"),
    "skip-gram": ("u, v : real[d]\nN : real[m, d]\nlog(sigmoid(u@v)) + sum(log(sigmoid(-N@v)))", "v, u, N"),
    "embeddings": ("E : real[v, d]\nids : int[b]\nw : real[d]\ny : real[b]\nsum((E[ids]@w - y)**2)", "E, w"),
    "largest entry": (VECTORS + "max(x)", "x"),
    "differences": (VECTORS + "sum((x[1:] - x[:-1])**2)", "x"),
    "pairwise distances": (
        "X : real[n, d]\nc : real[d]\nsum(sqrt(1 + sum((X - c)**2, axis=1)))",
        "c, X",
    ),
    "layer normalisation": (
        "x, g, t : real[n]\neps : positive\nz = (x - mean(x))/sqrt(var(x) + eps)\nsum(t*g*z)",
        "g, x",
    ),
    "diagonal scaling": ("A : real[n, m]\ns : real[n]\nsum((s[:, None]*A)**2)", "s, A"),
    "kernel": ("X : real[n, d]\na : real[n]\na@(X@X.T)@a", "a, X"),
    "cumulative sum": (VECTORS + "sum(y*cumsum(x))", "x"),
    "product": (VECTORS + "prod(x)", "x"),
}


def test_gradients_of_arrays_as_printed(golden: Callable[[str, str], None]) -> None:
    blocks: list[str] = []
    for title, (text, wrt) in PROGRAMS.items():
        program = sg.parse(text)
        names = [name.strip() for name in wrt.split(",")]
        lines = [f"# {title}", *(f"    {line}" for line in text.splitlines())]
        for name, g in zip(names, sg.grad(program.last, names), strict=True):
            lines += [f"d/d{name}", f"    {g}"]
            lines += [f"    # {note}" for note in g.domain_notes]
        blocks.append("\n".join(lines))
    golden("array_gradients.txt", "\n\n".join(blocks))
