"""Array programs for tests: single ops, random programs, and a caller of compiled ones through ctypes."""

from __future__ import annotations

import ctypes
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import symgrad.ops  # noqa: F401
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.llvm.arrays.array_code import ArrayCode
from symgrad.compiler.llvm.text.types import FLOAT64, FloatType
from symgrad.errors import SymgradError
from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.sizes import evaluate_size, size_product
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import INT, REAL, Declaration, Domain
from symgrad.ops.array import cholesky, indexing, layout, linalg, matrix_functions, scans
from symgrad.ops.array.contraction import contract, sum_over, transpose

_VOID, _LONG, _PTR = None, ctypes.c_int64, ctypes.c_void_p


def tensor(name: str, *shape: int | str, domain: Domain = REAL) -> Node:
    """Return a symbol with a shape."""
    return symbol(Declaration(name, domain, tuple(shape)))


def values_for(
    symbols: Sequence[Node], sizes: Mapping[str, int], seed: int = 0, *, low: int = 0, high: int = 2
) -> Any:
    """Return normal numbers for real symbols, whole ones in a range for int symbols."""
    rng = np.random.default_rng(seed)
    found: dict[Node, Any] = {}
    for s in symbols:
        shape = tuple(evaluate_size(n, sizes) for n in s.shape)
        found[s] = rng.integers(low, high, shape) if s.dtype == "int" else rng.normal(size=shape)
    return found


_FUNCTION = re.compile(r"(define|call) [^@\n]*@([\w.]+)\(([^)\n]*)\)")


def calls_that_do_not_fit(text: str) -> set[str]:
    """Return the functions that a module calls with other arguments than it defines them with.

    LLVM knows pointers without types, and takes such a call for one that nothing is known of.
    """
    takes: dict[str, list[str]] = {}
    given: list[tuple[str, list[str]]] = []
    for what, name, arguments in _FUNCTION.findall(text):
        types = [a.rsplit(" ", 1)[0] for a in arguments.split(", ")]
        if what == "define":
            takes[name] = types
        else:
            given.append((name, types))
    return {name for name, types in given if takes.get(name, types) != types}


class Compiled:
    """A compiled array program that is called with values of its inputs."""

    def __init__(
        self, outputs: Sequence[Node], inputs: Sequence[Node] | None = None, real: FloatType = FLOAT64
    ):
        self.inputs = tuple(symbols_of(outputs) if inputs is None else inputs)
        self.outputs = tuple(outputs)
        self.code = ArrayCode(self.outputs, self.inputs, real)
        assert not calls_that_do_not_fit(self.code.llvm_ir)
        self.types = {"real": real.numpy, "int": "int64", "bool": "bool"}
        self.run = ctypes.CFUNCTYPE(_VOID, _PTR, _PTR, _PTR)(self.code.run)
        self.scratch = ctypes.CFUNCTYPE(_LONG, _PTR)(self.code.scratch)

    def needs(self, sizes: Mapping[str, int]) -> int:
        """Return the bytes of scratch memory for some sizes."""
        return int(self.scratch(self._table(sizes).ctypes.data))

    def _table(self, sizes: Mapping[str, int]) -> Any:
        return np.array([*(sizes[n] for n in self.code.names), 0], dtype=np.int64)

    def __call__(self, sizes: Mapping[str, int], values: Mapping[Node, Any]) -> list[Any]:
        kinds = [self.types[k] for k in self.code.kinds]
        arrays = [np.ascontiguousarray(values[s], dtype=t) for s, t in zip(self.inputs, kinds, strict=False)]
        for shape, kind in zip(self.code.shapes[len(arrays) :], kinds[len(arrays) :], strict=True):
            arrays.append(np.full(tuple(evaluate_size(n, sizes) for n in shape), 77).astype(kind))
        table = self._table(sizes)
        memory = np.full(self.needs(sizes) + 64, 0x55, dtype=np.uint8)  # what it finds there must not matter
        start = memory.ctypes.data + (-memory.ctypes.data) % 64
        pointers = np.array([*(a.ctypes.data for a in arrays), 0], dtype=np.uint64)
        self.run(pointers.ctypes.data, table.ctypes.data, start)
        return arrays[len(self.inputs) :]


X, W, Y, V = tensor("X", "n", 5), tensor("w", 5), tensor("y", "n"), tensor("v", 5, 5)
IDS, TABLE = tensor("ids", "b", 3, domain=INT), tensor("E", 7, 4)


def _over(name: str, x: Node, *axes: int) -> Node:
    return OPS[name](x, params=(axes,))


def programs() -> dict[str, Node]:
    """Return one program for every op that is not elementwise, in its variants, and some that fuse."""
    iota = OPS["iota"](params=("n",))
    batch = tensor("P", "b", "n", 5), tensor("Q", "b", 5, 3)
    regular = V + 7 * OPS["eye"](params=(5, 5))
    regulars = tensor("R", "b", 5, 5) + 7 * OPS["eye"](params=(5, 5))
    definite, definites = (
        linalg.product_of(regular, regular, right=True),
        linalg.product_of(regulars, regulars, left=True),
    )
    return {
        "matrix vector": contract([X, W], [(0, 1), (1,)], (0,)),
        "vector matrix": contract([Y, X], [(0,), (0, 1)], (1,)),
        "least squares": _over("mean", (contract([X, W], [(0, 1), (1,)], (0,)) - Y) ** 2, 0),
        "product": contract([X, V], [(0, 1), (1, 2)], (0, 2)),
        "product turned": contract([X, V], [(0, 1), (2, 1)], (2, 0)),
        "product of three": contract([X, V, W], [(0, 1), (1, 2), (2,)], (0,)),
        "products in a batch": contract(list(batch), [(0, 1, 2), (0, 2, 3)], (0, 1, 3)),
        "products in an inner batch": contract(list(batch), [(0, 1, 2), (0, 2, 3)], (1, 0, 3)),
        "outer": contract([W, Y], [(0,), (1,)], (1, 0)),
        "dot": contract([W, W], [(0,), (0,)], ()),
        "trace": contract([V], [(0, 0)], ()),
        "diagonal": contract([V], [(0, 0)], (0,)),
        "weighted diagonal": contract([V, W], [(0, 0), (0,)], ()),
        "sums apart": contract([X, V], [(0, 1), (2, 3)], (0,)),
        "transpose": transpose(X * 2, (1, 0)),
        "broadcast": X * W + layout.expand(Y, [1]),
        "reshape": layout.reshape(X**2, params=((5, "n"),)),
        "broadcast_to": layout.broadcast_to(W * W, params=(("n", 5),)),
        "slice": layout.slice_axes(X**2, ((1, None, 2), (None, None, -1))),
        "concatenate": layout.concatenate(X**2, X * 3, X, params=(0,)),
        "max": _over("max", X, 1),
        "max of all": _over("max", X, 0, 1),
        "min of columns": _over("min", X * W, 0),
        "prod": _over("prod", X, 1),
        "prod of all": _over("prod", X, 0, 1),
        "prod_except": OPS["prod_except"](X, params=(0,)),
        "logsumexp": _over("logsumexp", X, 1),
        "softmax": _over("softmax", X, 1),
        "softmax of all": _over("softmax", X, 0, 1),
        "log_softmax of columns": _over("log_softmax", X, 0),
        "inv": linalg.inv(regular),
        "inv of a stack": linalg.inv(regulars),
        "det": linalg.det(regular),
        "det of a stack": linalg.det(regulars),
        "logdet": linalg.logdet(regular),
        "logdet of a stack": linalg.logdet(regulars),
        "expm": matrix_functions.expm(regular),
        "expm of a stack": matrix_functions.expm(regulars),
        "sinm": matrix_functions.sinm(regular),
        "cosm of a stack": matrix_functions.cosm(regulars),
        "expm_frechet": matrix_functions.expm_frechet(regular, linalg.adjoint(regular)),
        "sinm_frechet of a stack": matrix_functions.sinm_frechet(regulars, linalg.adjoint(regulars)),
        "cosm_frechet": matrix_functions.cosm_frechet(regular, regular),
        "solve": linalg.solve(regular, W),
        "solve with a transpose": linalg.solve(transpose(V, (1, 0)) + linalg.adjoint(regular), W),
        "solve for matrices": linalg.solve(regular, transpose(X, (1, 0))),
        "solve for a stack": linalg.solve(regular, batch[1]),
        "solve of a stack": linalg.solve(regulars, batch[1]),
        "solve of a stack for one matrix": linalg.solve(regulars, transpose(X, (1, 0))),
        "cholesky": cholesky.cholesky(definite),
        "cholesky of a stack": cholesky.cholesky(definites),
        "solve with a factor": linalg.solve(cholesky.cholesky(definite), W),
        "solve with a factor's transpose": linalg.solve(
            linalg.adjoint(cholesky.cholesky(definite)), transpose(X, (1, 0))
        ),
        "solve with a triangle of a stack": linalg.solve(cholesky.triangle(regulars, lower=False), batch[1]),
        "norm": _over("norm", X, 1),
        "norm of all": _over("norm", X, 0, 1),
        "cumsum": OPS["cumsum"](X, params=(0, 0)),
        "logcumsumexp": OPS["logcumsumexp"](X, params=(1,)),
        "cumsum from the end": OPS["cumsum"](X, params=(1, 1)),
        "gather rows": indexing.gather(X**2, IDS, params=((0,),)),
        "gather columns": indexing.gather(X**2, IDS, params=((1,),)),
        "gather entries": indexing.gather(X, IDS, IDS, params=((0, 1),)),
        "pick": indexing.gather(X, iota, tensor("t", "n", domain=INT), params=((0, 1),)),
        "scatter": indexing.scatter_add(
            indexing.gather(X, IDS, params=((0,),)) ** 2, IDS, params=((0,), (9, 5))
        ),
        "mean of rows": _over("mean", X**3, 1),
        "argmax": OPS["argmax"](X * 2, params=(1,)),
        "argmin of columns": OPS["argmin"](X, params=(0,)),
        "argmax of all": OPS["argmax"](X, params=(None,)),
        "one_hot": contract([OPS["one_hot"](IDS, params=(7,)), TABLE], [(0, 1, 2), (2, 3)], (0, 1, 3)),
        "eye": OPS["eye"](params=("n", 5)) * X,
        "iota": iota * Y,
        "condition": OPS["gt"](X, layout.expand(Y, [1])),
        "no factor": contract([layout.broadcast_to(W, params=(("n", 5),)), V], [(0, 1), (1, 2)], (0, 2)),
    }


def with_gradients(outputs: Sequence[Node]) -> list[Node]:
    """Return outputs, and the gradients of all real ones for cotangents that are inputs."""
    real = [o for o in outputs if o.dtype == "real"]
    wrt = [s for s in symbols_of(real) if s.dtype == "real"]
    if not real or not wrt:
        return list(outputs)
    seeds = [symbol(Declaration(f"seed{i}", REAL, o.shape)) for i, o in enumerate(real)]
    return [*outputs, *pull_back(real, seeds, wrt).gradients]


_DIMENSIONS: tuple[int | str, ...] = ("n", "m", 3, 1, "k")


def random_outputs(seed: int) -> tuple[list[Node], list[Node]]:
    """Return the symbols and the outputs of a random program; the same for the same seed."""
    r = random.Random(seed)
    symbols = [tensor(f"x{i}", *(r.choice(_DIMENSIONS) for _ in range(r.randint(0, 3)))) for i in range(3)]
    symbols.append(tensor("ii", r.choice(["n", "m"]), domain=INT))
    pool = list(symbols)
    for _ in range(r.randint(3, 14)):
        try:
            made = _step(r, pool)
        except SymgradError:
            continue  # shapes that do not fit
        if made is not None and len(made.shape) < 5:
            pool.append(made)
    outputs = pool[len(symbols) :]
    r.shuffle(outputs)
    return symbols, outputs[:3]


_REDUCTIONS = ("mean", "max", "min", "prod", "logsumexp", "norm", "softmax", "log_softmax")
_SLICES = ((None, None, 1), (1, None, 1), (None, -1, 1), (None, None, -1), (None, None, 2))


def _step(r: random.Random, pool: list[Node]) -> Node | None:
    a, b = r.choice(pool), r.choice(pool)
    kind = r.randint(0, 21)
    rank = len(a.shape)
    whole = [p for p in pool if p.dtype == "int" and len(p.shape) < 3]
    if kind < 4:
        return OPS[r.choice(["add", "mul", "maximum"])](a, b)
    if kind == 4:
        return OPS[r.choice(["exp", "tanh", "abs", "neg", "sin"])](OPS["tanh"](a))
    if kind == 5:
        return OPS["where"](OPS["gt"](a, b), a, b)
    if kind == 6:
        return OPS["one_hot"](r.choice(whole), params=(r.choice([3, "m"]),))
    if not rank:
        return None
    axes = tuple(sorted(r.sample(range(rank), r.randint(1, rank))))
    axis = r.randrange(rank)
    if kind in (7, 8):
        return sum_over(a, axes)
    if kind in (9, 10):
        return OPS[r.choice(_REDUCTIONS)](a, params=(axes,))
    if kind in (11, 12, 13):
        return _contraction(r, a, b) if b.shape else None
    if kind == 14:
        return transpose(a, r.sample(range(rank), rank))
    if kind == 15:
        return layout.slice_axes(a, [r.choice(_SLICES) for _ in a.shape])
    if kind == 16:
        return layout.concatenate(a, r.choice([a, b]), params=(axis,))
    if kind == 17:
        return scans.cumsum(a, params=(axis, r.randint(0, 1)))
    if kind == 18:
        return scans.prod_except(a, params=(axis,)) if rank < 3 else None
    if kind == 19:
        return OPS[r.choice(["argmax", "argmin"])](a, params=(r.choice([None, axis]),))
    if kind == 20:
        return indexing.gather(a, r.choice(whole), params=((axis,),))
    return layout.reshape(a, params=((size_product(a.shape),),))


def _contraction(r: random.Random, a: Node, b: Node) -> Node:
    labels = [r.randint(0, 3) for _ in a.shape], [r.randint(0, 3) for _ in b.shape]
    every = sorted({*labels[0], *labels[1]})
    return contract([a, b], labels, r.sample(every, r.randint(0, len(every))))
