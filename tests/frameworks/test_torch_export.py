"""Programs in torch: values and derivatives of every order, in every way that torch asks for them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import func
from torch.autograd import forward_ad, gradcheck, gradgradcheck

import symgrad as sg
from symgrad.errors import (
    ArrayTypeError,
    IndexRangeError,
    MissingInputError,
    NotInProgramError,
    ShapeError,
    UnsupportedError,
    UsageError,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings(
        "ignore:Attempted to insert a get_attr Node:UserWarning"
    ),  # torch.func.linearize
]

DOUBLE = torch.float64


@pytest.fixture(autouse=True)
def _fresh():
    torch.manual_seed(3)
    torch.compiler.reset()


def given(*shape, dtype=DOUBLE, grad=True):
    return torch.rand(shape, dtype=dtype).add(0.1).requires_grad_(grad)


def elementwise():
    """Return a function of two outputs, and the same in torch's operations."""
    x, u = sg.symbols("x u")
    return sg.to_torch([sg.sin(x * u) * x, x**3]), lambda x, u: (torch.sin(x * u) * x, x**3 + 0 * u)


def arrays():
    """Return a function of arrays with an int input, and the same in torch's operations."""
    p = sg.parse("X: real[n, d]\nw: real[d]\nt: int[n]\nz = tanh(X@w)\ns = sum(z*z[t])\ny = z[1:] - z[:-1]")

    def same(X, w, t):
        z = torch.tanh(X @ w)
        return (z * z[t]).sum(), z[1:] - z[:-1]

    return sg.to_torch([p["s"], p["y"]], ["X", "w", "t"]), same


def close(found, wanted, dtype=DOUBLE):
    torch.testing.assert_close(
        found, wanted, rtol=1e-12 if dtype is DOUBLE else 3e-6, atol=1e-12 if dtype is DOUBLE else 1e-6
    )


# ------------------------------------------------------------------------------------------------ values, derivatives


@pytest.mark.parametrize("dtype", [DOUBLE, torch.float32])
@pytest.mark.parametrize("shapes", [((), ()), ((4,), ()), ((2, 1), (3,)), ((0,), ()), ((1,), (2, 3, 1))])
def test_values_and_gradients_of_batches_that_broadcast(shapes, dtype):
    f, same = elementwise()
    args = [given(*s, dtype=dtype) for s in shapes]
    found, wanted = f(*args), same(*args)
    close(found, wanted, dtype)
    weights = [torch.randn_like(y) for y in wanted]
    total = lambda ys: sum((w * y).sum() for w, y in zip(weights, ys, strict=True))  # noqa: E731
    close(torch.autograd.grad(total(found), args), torch.autograd.grad(total(wanted), args), dtype)


def test_gradcheck_of_both_orders_and_modes():
    f, _ = elementwise()
    args = given(2, 1), given(3)
    assert gradcheck(f, args, check_forward_ad=True)
    assert gradgradcheck(f, args, check_fwd_over_rev=True, check_rev_over_rev=True)
    g, _ = arrays()
    t = torch.tensor([0, 0, 2, 1])
    assert gradcheck(lambda X, w: g(X, w, t), (given(4, 3), given(3)), check_forward_ad=True)
    assert gradgradcheck(lambda X, w: g(X, w, t), (given(2, 4, 3), given(3)), check_fwd_over_rev=True)


TRANSFORMS = {
    "grad": lambda f: func.grad(f, (0, 1)),
    "hessian": lambda f: func.hessian(f, (0, 1)),
    "jacrev of jacrev": lambda f: func.jacrev(func.jacrev(f, (0, 1)), (0, 1)),
    "jacfwd of jacfwd": lambda f: func.jacfwd(func.jacfwd(f, (0, 1)), (0, 1)),
    "jacrev of jacfwd": lambda f: func.jacrev(func.jacfwd(f, (0, 1)), (0, 1)),
    "third order": lambda f: func.jacfwd(func.jacrev(func.jacrev(f))),
    "jvp": lambda f: lambda x, u: func.jvp(f, (x, u), (torch.cos(x), torch.sin(u))),
    "vjp": lambda f: lambda x, u: func.vjp(f, x, u)[1](torch.ones((), dtype=DOUBLE)),
    "linearize": lambda f: lambda x, u: func.linearize(f, x, u)[1](torch.cos(x), torch.sin(u)),
    "grad of jvp": lambda f: func.grad(lambda x, u: func.jvp(lambda z: f(z, u), (x,), (x * x,))[1]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    f, same = elementwise()
    args = given(4, grad=False), given(grad=False)
    scalar = lambda f: lambda x, u: sum((k + 1) * y.sum() for k, y in enumerate(f(x, u)))  # noqa: E731
    close(TRANSFORMS[name](scalar(f))(*args), TRANSFORMS[name](scalar(same))(*args))


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (1, 0), (0, 0), (-1, None)])
def test_vmap_beside_batches(in_dims):
    f, same = elementwise()
    args = given(3, 3, grad=False), given(3, grad=False)
    for g in (lambda f: f, lambda f: func.grad(lambda x, u: (f(x, u)[0] * f(x, u)[1]).sum(), (0, 1))):
        close(func.vmap(g(f), in_dims)(*args), func.vmap(g(same), in_dims)(*args))
    rows = given(2, 3, 3, grad=False)
    close(
        func.vmap(func.vmap(f, (1, None)), (0, None))(rows, args[1]),
        func.vmap(func.vmap(same, (1, None)), (0, None))(rows, args[1]),
    )


def test_vmap_over_arrays_of_declared_shapes():
    f, same = arrays()
    X, w, t = given(5, 4, 3, grad=False), given(3, grad=False), torch.randint(4, (5, 4))
    close(func.vmap(f, (0, None, 0))(X, w, t), func.vmap(same, (0, None, 0))(X, w, t))
    hess = lambda f: func.vmap(func.hessian(lambda X, w, t: f(X, w, t)[0], 1), (0, None, 0))(X, w, t)  # noqa: E731
    close(hess(f), hess(same))


def test_batches_of_elementwise_programs_with_declared_shapes():
    m, v = sg.tensor("m", (3, 3)), sg.tensor("v", (3,))
    f = sg.to_torch(m * sg.sin(v))
    same = lambda m, v: m * torch.sin(v)  # noqa: E731
    M, V = given(3, 3), given(3, 3)  # a batch of three vectors: not the matrix that it looks like
    close(f(M, V), torch.stack([same(M, v) for v in V]))
    close(func.vmap(f, (None, 0))(M, V), torch.stack([same(M, v) for v in V]))
    assert gradcheck(f, (given(2, 1, 3, 3), given(4, 3)))
    with pytest.raises(ShapeError, match="input 'm' has shape"):
        f(given(3, 2), V)


def test_more_arguments_than_a_ufunc_has():
    names = [f"a{k}" for k in range(70)]
    total = sum((sg.tensor(n, (2,)) for n in names[1:]), sg.tensor(names[0], (2,)) ** 2)
    f = sg.to_torch(total, names)
    args = [given(3, 2), *(given(2) for _ in names[1:])]
    close(f(*args), args[0] ** 2 + sum(args[1:]))
    assert torch.autograd.grad(f(*args).sum(), args[5])[0].tolist() == [3, 3]


def test_what_needs_no_gradient_is_not_computed():
    x, u = sg.symbols("x u")
    f = sg.to_torch([sg.log(x) * u, u**2])
    x0, u0 = torch.zeros(2, dtype=DOUBLE), given(2)
    y = f(x0, u0)
    assert (
        torch.autograd.grad(y[1].sum(), u0)[0].tolist() == (2 * u0).tolist()
    )  # nothing of log(0), not even 0*inf
    (only,) = torch.autograd.grad(f(given(2), u0)[0].sum(), u0)
    assert bool(torch.isfinite(only).all())
    assert not f(x0, u0.detach())[0].requires_grad


def test_outputs_that_do_not_depend_on_an_input():
    x, u = sg.symbols("x u")
    f = sg.to_torch([sg.stop_gradient(x) * u, x], ["x", "u"])
    a, b = given(3), given(3)
    y, z = f(a, b)
    assert torch.autograd.grad(y.sum(), a, allow_unused=True, materialize_grads=True, retain_graph=True)[
        0
    ].tolist() == [0, 0, 0]
    close(torch.autograd.grad(y.sum() + z.sum(), [a, b]), (torch.ones(3, dtype=DOUBLE), a))
    close(func.jvp(f, (a, b), (b, a))[1], ((a * a).detach(), b.detach()))


def test_one_tensor_twice():
    x, u = sg.symbols("x u")
    f = sg.to_torch(x**2 * u)
    a = given(3)
    close(torch.autograd.grad(f(a, a).sum(), a)[0], 3 * a**2)
    close(func.hessian(lambda a: f(a, a).sum())(a.detach()), torch.diag(6 * a.detach()))


def test_gradients_that_are_given():
    x, u = sg.symbols("x u")
    straight = sg.to_torch(sg.with_gradient(forward=sg.round(x), backward_of=sg.sin(x)))
    a = given(4)
    assert straight(a).tolist() == torch.round(a).tolist()
    close(torch.autograd.grad(straight(a).sum(), a)[0], torch.cos(a))
    close(func.hessian(lambda a: straight(a).sum())(a.detach()), torch.diag(-torch.sin(a.detach())))
    clipped = sg.to_torch(sg.custom_gradient(x**2, {x: lambda v: v * x}))
    (g,) = torch.autograd.grad(clipped(a).sum(), a, create_graph=True)
    close(g, a)
    close(torch.autograd.grad(g.sum(), a)[0], torch.ones(4, dtype=DOUBLE))
    noisy = sg.to_torch(sg.ignore_noise(sg.sin(x) * u, noise=[u], at=1))
    close(noisy(a, 0.9), torch.sin(a) * 0.9)
    close(torch.autograd.grad(noisy(a, 0.9).sum(), a)[0], torch.cos(a))


def test_numbers_that_are_none_and_infinities():
    f, same = elementwise()
    args = (
        torch.tensor([float("nan"), float("inf"), -0.0, 1e-300], dtype=DOUBLE),
        torch.tensor(1.0, dtype=DOUBLE),
    )
    torch.testing.assert_close(f(*args), same(*args), equal_nan=True)


def test_tensors_that_are_not_contiguous_or_are_views():
    f, same = elementwise()
    base = given(6, 4, grad=False)
    for a in (
        base.T,
        base[::2, 1:],
        base.flip(0),
        torch.view_as_complex(base.reshape(6, 2, 2)).conj().imag,
        base[0].expand(3, 4),
    ):
        close(f(a, 2.0), same(a, torch.tensor(2.0, dtype=DOUBLE)))
    base[0, 0] = 5
    before = base.clone()
    y = f(base, 1.0)[1]
    y += 1  # a result is the caller's own
    assert torch.equal(base, before)


def test_truth_values_and_counts():
    x, b = sg.tensor("x", ("n",)), sg.tensor("b", ("n",), "bool")
    k = sg.symbols("k", "int")
    f = sg.to_torch([sg.where(b, x, k * x), x > 0.5], [x, b, k])
    a, mask = given(3), torch.tensor([True, False, True])
    y, above = f(a, mask, torch.tensor(3, dtype=torch.int32))
    close(y, torch.where(mask, a, 3 * a))
    assert above.dtype is torch.bool
    assert above.tolist() == (a > 0.5).tolist()
    close(torch.autograd.grad(y.sum(), a)[0], torch.where(mask, 1.0, 3.0).double())
    assert not above.requires_grad
    n = sg.symbols("n", "int")
    g = sg.to_torch(n * sg.symbols("z"), ["n", "z"])
    assert g(torch.tensor(2**24), torch.tensor(1.0)).item() == 2**24
    with pytest.raises(ArrayTypeError, match="whole numbers that float32 does not hold"):
        g(torch.tensor(2**24 + 1), torch.tensor(1.0))


# ------------------------------------------------------------------------------------------------ graphs, files


def test_opcheck():
    for f, args in (
        (elementwise()[0], [given(3), given()]),
        (arrays()[0], [given(4, 3), given(3), torch.tensor([0, 1, 2, 3])]),
    ):
        torch.library.opcheck(torch.ops.symgrad.kernel.default, (args, f._key, True))
        torch.library.opcheck(
            torch.ops.symgrad.call.default, (args, f._key), test_utils=("test_schema", "test_faketensor")
        )


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_compiled_graph_has_values_and_gradients(dynamic):
    f, same = arrays()
    g = torch.compile(
        lambda X, w, t: f(X * 2, w, t)[0] * 3, fullgraph=True, backend="aot_eager", dynamic=dynamic
    )
    for n in (4, 5, 7):
        X, w, t = given(n, 3), given(3), torch.randint(n, (n,))
        wanted = same(X * 2, w, t)[0] * 3
        close(g(X, w, t), wanted)
        close(torch.autograd.grad(g(X, w, t), [X, w]), torch.autograd.grad(wanted, [X, w]))
    v = torch.compile(func.vmap(f, (0, None, 0)), fullgraph=True, backend="aot_eager")
    X, t = given(2, 4, 3, grad=False), torch.randint(4, (2, 4))
    close(v(X, w.detach(), t), func.vmap(same, (0, None, 0))(X, w.detach(), t))


def test_numbers_names_and_modules_in_a_compiled_graph():
    x, u = sg.symbols("x u")
    f = sg.to_torch(sg.sin(x * u))
    a = given(4)
    g = torch.compile(lambda a: f(a, 1.5) + f(u=2.0, x=a), fullgraph=True, backend="aot_eager")
    close(g(a), torch.sin(1.5 * a) + torch.sin(2.0 * a))
    m = f.module(u=torch.tensor(2.0, dtype=DOUBLE))
    torch.compile(m, fullgraph=True, backend="aot_eager")(a).sum().backward()
    close(m.u.grad, (a * torch.cos(2 * a)).sum().detach())


def test_forward_mode_in_a_compiled_graph_is_refused():
    f, _ = elementwise()
    x, u = given(3, grad=False), given(3, grad=False)
    inside = torch.compile(
        lambda x, u: func.jvp(lambda x: f(x, u)[0], (x,), (u,))[1], fullgraph=True, backend="aot_eager"
    )
    with pytest.raises(Exception, match="has a tangent in a compiled graph"):
        inside(x, u)
    outside = torch.compile(lambda x, u: f(x, u)[0], fullgraph=True, backend="aot_eager")
    with forward_ad.dual_level(), pytest.raises(UnsupportedError, match="has a tangent in a compiled graph"):
        outside(forward_ad.make_dual(x, u), u)
    with pytest.raises(Exception, match="setup_context"):  # torch's own limit, and its words
        torch.compile(func.grad(lambda x: f(x, u)[0].sum()), fullgraph=True, backend="aot_eager")(x)


def test_export_keeps_the_operator():
    f, _ = elementwise()
    program = torch.export.export(f.module(u=torch.tensor(2.0, dtype=DOUBLE)), (given(3, grad=False),))
    assert "symgrad.call" in str(program.graph)
    x = given(3, grad=False)
    close(program.module()(x), f(x, 2.0))


def test_copies_and_pickles():
    f, _ = arrays()
    args = given(4, 3), given(3), torch.tensor([0, 1, 2, 3])
    assert copy.deepcopy(f) is f is copy.copy(f)
    again = pickle.loads(pickle.dumps(f))
    assert again._key == f._key
    for a, b in zip(again(*args), f(*args), strict=True):
        assert torch.equal(a, b)


def test_a_module_holds_parameters(tmp_path):
    p = sg.parse("X: real[n, d]\ny: real[n]\nw: real[d]\nt: int[n]\nloss = mean((X@w - y[t])**2)")
    m = sg.to_torch(p["loss"]).module(w=torch.zeros(3, dtype=DOUBLE), t=torch.arange(5))
    assert [n for n, _ in m.named_parameters()] == ["w"]
    assert set(m.state_dict()) == {"w", "t"}
    X = given(5, 3, grad=False)
    y = X @ torch.tensor([1.0, -2.0, 0.5], dtype=DOUBLE)
    steps = torch.optim.LBFGS(m.parameters(), max_iter=50)

    def closure():
        steps.zero_grad()
        loss = m(X, y)
        loss.backward()
        return loss

    steps.step(closure)
    torch.testing.assert_close(m.w, torch.tensor([1.0, -2.0, 0.5], dtype=DOUBLE), rtol=1e-3, atol=1e-3)
    torch.save(torch.nn.Sequential(m), tmp_path / "m.pt")
    again = torch.load(tmp_path / "m.pt", weights_only=False)[0]
    assert torch.equal(again(X, y), m(X, y))
    copied = copy.deepcopy(m)
    with torch.no_grad():
        copied.w += 1
    assert not torch.equal(copied(X, y), m(X, y))
    with pytest.raises(MissingInputError, match="'v' is not an input"):
        sg.to_torch(p["loss"]).module(v=torch.zeros(3))
    close(m(y=y, X=X), m(X, y))
    with pytest.raises(MissingInputError, match="no value for y"):
        m(X)
    with pytest.raises(UsageError, match="a torch module has a 'training' of its own"):
        sg.to_torch(sg.symbols("training") ** 2).module(training=torch.zeros(3))


def test_source_is_the_same_function():
    x, u = sg.symbols("x u")
    outputs = [sg.stop_gradient(x) * sg.sin(u), x * u]
    f, k = (sg.to_torch(outputs, [u, x], form=form) for form in ("source", "kernel"))
    args = given(3), given(3)
    close(f(*args), k(*args))
    close(torch.autograd.grad(f(*args)[0].sum(), args[0]), torch.autograd.grad(k(*args)[0].sum(), args[0]))
    assert ".detach()" in f.source
    scope = {}
    exec(f.source, scope)
    close(scope["f"](u=args[0], x=args[1])[1], args[0] * args[1])
    assert torch.equal(pickle.loads(pickle.dumps(f))(*args)[0], f(*args)[0])
    assert sg.to_torch(x**2, form="source")(torch.empty(3, device="meta")).device.type == "meta"


def test_source_of_names_that_the_text_has_itself():
    f = sg.to_torch(sg.symbols("like") * sg.sin(sg.symbols("torch")), form="source")
    assert float(f(2.0, 0.5)) == pytest.approx(2 * np.sin(0.5), rel=1e-6)
    assert float(f(torch=0.5, like=2.0)) == float(f(2.0, 0.5))


def test_source_takes_numbers_and_arrays_of_numpy():
    x, u = sg.symbols("x u")
    f = sg.to_torch(sg.sin(x) * u, ["x", "u"], form="source")
    assert float(f(0.5, 2)) == pytest.approx(2 * np.sin(0.5), rel=1e-7)
    assert f(np.float64([0.5, 1.0]), 2).dtype == DOUBLE


def test_source_takes_the_declared_shapes_alone():
    p = sg.parse("W : real[d, d]; x : real[d]; y : real[d]\nv = W@x\ns = sum(x*y)\nt = x*y")
    f = sg.to_torch(p["v"], ["W", "x"], form="source")
    W, X = given(3, 3), given(3, 3)
    with pytest.raises(
        ShapeError, match=r"'x' has shape .3, 3., and the source is written for one without a batch"
    ):
        f(W, X)
    close(torch.func.vmap(f, (None, 0))(W, X), X @ W.T)
    with pytest.raises(ShapeError, match=r"'y' has shape .1,., where d is 3"):
        sg.to_torch(p["s"], ["x", "y"], form="source")(given(3), given(1))
    with pytest.raises(ShapeError, match="for one without a batch"):  # d is no length of the batch
        sg.to_torch(sg.parse("x : real[d]; y = x/d")["y"], form="source")(given(2, 3))
    close(sg.to_torch(p["t"], ["x", "y"], form="source")(X, W), X * W)  # entry by entry, a batch is one
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (2, 3, 4):
        close(compiled(given(n, n), given(n)).shape, (n,))


# ------------------------------------------------------------------------------------------------ what is refused


def test_what_is_no_tensor_is_named():
    for form in ("kernel", "source"):
        f = sg.to_torch(sg.sin(sg.symbols("x")), form=form)
        for value in (None, "a", object()):
            with pytest.raises(ArrayTypeError, match="input 'x' cannot be read as a tensor"):
                f(value)


def test_arrays_that_are_not_written_to(recwarn):
    f = sg.to_torch(sg.sin(sg.symbols("x")))
    array = np.broadcast_to(0.5, 3)
    np.testing.assert_array_equal(f(array).numpy(), np.sin(array))
    assert not recwarn


def test_dtypes_and_devices_that_are_refused():
    f, _ = elementwise()
    one = given(2, grad=False)
    for dtype, cure in (
        (torch.float16, "pass x.float"),
        (torch.bfloat16, "pass x.float"),
        (torch.int64, "pass x.double"),
        (torch.complex128, "pass x"),
    ):
        with pytest.raises(ArrayTypeError, match=f"input 'x' is {dtype}") as error:
            f(one.to(dtype), one)
        assert cure in str(error.value)
    with pytest.raises(ArrayTypeError, match=r"input 'x' is torch\.float64 and 'u' is torch\.float32"):
        f(one, one.float())
    with pytest.raises(ArrayTypeError, match="sparse"):
        f(one.to_sparse(), one)
    assert [t.device.type for t in f(one.to("meta"), one.to("meta"))] == ["meta", "meta"]
    from torch._subclasses.fake_tensor import FakeTensorMode

    with (
        FakeTensorMode(),
        pytest.raises(UnsupportedError, match=r"input 'x' is on cuda:0.*on the CPU") as error,
    ):
        f(torch.empty(2, dtype=DOUBLE, device="cuda"), torch.empty(2, dtype=DOUBLE, device="cuda"))
    assert 'form="source"' in str(error.value)
    g, _ = arrays()
    with pytest.raises(ArrayTypeError, match=r"input 't' is torch\.float64, but it is declared int"):
        g(given(4, 3), given(3), given(4))
    with pytest.raises(RuntimeError, match="can require gradients"):  # torch's own
        torch.tensor([1, 2]).requires_grad_()


def test_shapes_positions_and_names_that_are_refused():
    f, _ = arrays()
    X, w, t = given(4, 3), given(3), torch.tensor([0, 1, 2, 3])
    with pytest.raises(ShapeError, match="size d is 3"):
        f(X, given(4), t)
    with pytest.raises(IndexRangeError):
        f(X, w, t + 1)
    with pytest.raises(MissingInputError, match="no value for t"):
        f(X, w)
    with pytest.raises(ShapeError, match="do not broadcast"):
        elementwise()[0](given(2), given(3))
    x = sg.symbols("x")
    with pytest.raises(UsageError, match="form='gpu'"):
        sg.to_torch(x**2, form="gpu")
    with pytest.raises(NotInProgramError, match="'v' is not an input"):
        sg.to_torch(x**2, "v")
    with pytest.raises(UnsupportedError, match="no spelling in torch"):
        sg.to_torch(sg.special.jv(0, x), form="source")
    with pytest.raises(MissingInputError, match="no program abc"):
        torch.ops.symgrad.call([torch.zeros(2)], "abc")


def test_without_tensors_the_default_dtype_is_taken():
    f, _ = elementwise()
    assert f(1, 2.0)[0].dtype is torch.float32
    assert f(np.float64(1.0), torch.tensor(2.0, dtype=DOUBLE))[0].dtype is DOUBLE
    assert sg.to_torch(sg.stop_gradient(sg.pi), [sg.symbols("x")])(given(2)).tolist() == [np.pi, np.pi]
