"""Functions and modules of torch as programs: models, names, lines, and what is refused."""

# ruff: noqa: RET504  (the names of variables are what is read)

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import symgrad as sg
from symgrad.errors import MissingInputError, UnsupportedError, UsageError
from symgrad.interop.importers.torch import trace as torch_trace
from tests.frameworks.models_torch import models

DOUBLE = torch.float64


def values_of(p, args):
    """Return the value of every input of a program, in order."""
    given = iter(args)
    return [p.values[i.name] if i.name in p.values else next(given) for i in p.inputs]


def numpy(values):
    return [v.detach().numpy() for v in values]


def loss_of(found):
    return found["loss"] if isinstance(found, dict) else found


@pytest.mark.parametrize("name", models())
def test_models(name):
    m, args = models()[name]
    p = sg.from_torch(m, *args)
    loss = p.returned["loss"]
    parameters = [p[n] for n in p.parameters]
    wanted = loss_of(m(*args))
    slopes = torch.autograd.grad(wanted, list(m.parameters()))
    values = values_of(p, args)
    k = sg.compile([loss, *sg.grad(loss, parameters)], list(p.inputs))
    found = k(*numpy(values))
    np.testing.assert_allclose(found[0], wanted.item(), rtol=1e-12)
    for n, g, slope in zip(p.parameters, found[1:], slopes, strict=True):
        np.testing.assert_allclose(g, slope.numpy(), rtol=1e-9, atol=1e-12, err_msg=n)
    assert sg.explain(loss, parameters[0]).adjoints is not None
    # and back: the same module, computed by the kernel
    f = sg.to_torch(loss, list(p.inputs))
    leaves = [
        v.detach().requires_grad_(n.name in p.parameters) for v, n in zip(values, p.inputs, strict=True)
    ]
    back = torch.autograd.grad(f(*leaves), [v for v in leaves if v.requires_grad])
    by_name = dict(
        zip([i.name for i, v in zip(p.inputs, leaves, strict=True) if v.requires_grad], back, strict=True)
    )
    for n, slope in zip(p.parameters, slopes, strict=True):
        torch.testing.assert_close(by_name[n], slope, rtol=1e-9, atol=1e-12)


def test_models_in_single_precision():
    m, args = models(torch.float32)["transformer block"]
    p = sg.from_torch(m, *args)
    k = sg.compile(sg.grad(p["loss"], p["x"]), list(p.inputs), dtype="float32")
    x = args[0].clone().requires_grad_()
    (wanted,) = torch.autograd.grad(m(x), x)
    np.testing.assert_allclose(k(*numpy(values_of(p, args))), wanted.numpy(), rtol=2e-5, atol=1e-7)


def test_names_of_inputs_and_variables():
    m, args = models()["PPO"]
    p = sg.from_torch(m, *args)
    assert p.parameters == ("body_0_weight", "body_0_bias", "pi_weight", "pi_bias", "v_weight", "v_bias")
    assert [i.name for i in p.inputs][6:] == ["obs", "actions", "old_logp", "advantages", "returns"]
    assert list(p.outputs) == [
        "features",
        "logits",
        "logp",
        "adv",
        "ratio",
        "surrogate",
        "value_loss",
        "entropy",
        "loss",
    ]
    assert p["actions"].dtype == "int"
    assert str(p["surrogate"]).splitlines()[-1].startswith("minimum(")
    assert "def forward" not in p.places["ratio"].text
    assert p.places["ratio"].text.startswith("ratio = torch.exp(logp")
    assert p.places["ratio"].file.endswith("models_torch.py")
    assert sg.grad(p["loss"], p["old_logp"]).nothing == "stopped"
    assert sg.grad(p["loss"], p["advantages"]).nothing == "stopped"


def test_arguments_declared_by_text():
    def f(x, u, ids, on):
        y = torch.log(x) * torch.where(on, u, u[ids])
        return y.sum()

    p = sg.from_torch(f, "positive", "Normal(0, 1)[3]", "int[3]", "bool[3]")
    assert [str(p[n].node.declaration) for n in ("x", "u", "ids", "on")] == [
        "x : positive", "u ~ Normal(0, 1)[3]", "ids : int[3]", "on : bool[3]"
    ]  # fmt: skip
    assert sg.explain(p["out"], "x").noise["u"].enters
    with pytest.raises(UsageError, match="unknown domain 'complex'"):
        sg.from_torch(f, "complex", "real[3]", "int[3]", "bool[3]")


def test_variables_that_are_bound_again_are_numbered():
    def f(x, sum):
        h = x * 2
        for _ in range(2):
            h = torch.tanh(h)
        a, (b, c) = h[0], h[1:].unbind()
        out = a * b * c + sum
        return out

    p = sg.from_torch(f, (3,), ())
    assert p.names == ("x", "sum", "h", "h_2", "h_3", "a", "b", "c", "out")
    assert float(p["out"](x=[1.0, 2.0, 3.0], sum=1.0)) == pytest.approx(
        1 + np.prod(np.tanh(np.tanh([2, 4, 6])))
    )


def test_arguments_by_name_in_dictionaries_and_python_values():
    def f(batch, scale, *, mask, shift=0.0, more=()):
        y = torch.where(mask, batch["x"] * scale, batch["y"][0]) + shift
        return {"y": y, "parts": (y.sum(), more[0])}

    x = torch.randn(3, dtype=DOUBLE)
    p = sg.from_torch(
        f, {"x": (3,), "y": [x]} | {"x": x}, 2.5, mask=x > 0, shift=1.5, more=[torch.ones(2, dtype=DOUBLE)]
    )
    assert [i.name for i in p.inputs] == ["batch_x", "batch_y_0", "mask", "more_0"]
    assert list(p.returned) == ["y", "parts0", "parts1"]
    found = p["y"](batch_x=x.numpy(), batch_y_0=x.numpy(), mask=(x > 0).numpy())
    np.testing.assert_allclose(found, torch.where(x > 0, 2.5 * x, x).numpy() + 1.5)


class Layer(nn.Module):
    """A module that holds values of Python's, a buffer, a constant and a parameter that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.rate = 0.5
        self.w = nn.Parameter(torch.tensor([1.0, 2.0], dtype=DOUBLE))
        self.same = self.w
        self.register_buffer("shift", torch.tensor([3.0, 4.0], dtype=DOUBLE))
        self.register_buffer("unread", torch.zeros(3))

    def forward(self, x):
        y = x * self.w * self.rate + self.same + self.shift
        return y + torch.tensor([0.25, 0.5], dtype=DOUBLE)

    def loss(self, x):
        total = self(x).sum()
        return total


def test_values_that_a_module_holds():
    m = Layer()
    p = sg.from_torch(m, (2,))
    assert [i.name for i in p.inputs] == ["w", "shift", "x"]
    assert p.parameters == ("w",)
    assert {n: v.tolist() for n, v in p.values.items()} == {"w": [1.0, 2.0], "shift": [3.0, 4.0]}
    assert p["y"].name == "y"
    x = np.array([1.0, -1.0])
    before = p.returned["out"](x=x, **p.values)
    m.rate = 7.0  # what was read stays as it was read
    np.testing.assert_array_equal(p.returned["out"](x=x, **p.values), before)
    assert "*7" in str(sg.from_torch(m, (2,))["y"])
    q = sg.from_torch(m.loss, (2,))  # a method finds its module
    assert [i.name for i in q.inputs] == ["w", "shift", "x"]
    assert str(sg.grad(q["total"], "w")).splitlines()[-1] == "7*x + 1"


def test_evaluation_and_training_are_two_programs():
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)).double()
    p = sg.from_torch(m.eval(), (5, 3))
    assert "1_running_mean" not in p
    assert "v_1_running_mean" in p
    with pytest.raises(UnsupportedError, match="dropout that is on draws noise") as error:
        sg.from_torch(m.train(), (5, 3))
    assert "module.eval()" in str(error.value)
    trained = sg.from_torch(m[:2].train(), (5, 3))
    assert not any("running" in n for n in trained.names)
    x = torch.randn(5, 3, dtype=DOUBLE)
    out = trained.returned["out"]
    found = out(input=x.numpy(), **{n: v.numpy() for n, v in trained.values.items()})
    np.testing.assert_allclose(found, m[:2](x).detach().numpy(), rtol=1e-12)


def test_data_and_item_are_findings():
    def f(x):
        y = x.data * 2
        c = x.sum().item()
        return (y * x * c).sum()

    p = sg.from_torch(f, (3,))
    line = f.__code__.co_firstlineno
    assert [(n.place.line, n.place.text) for n in p.findings] == [
        (line + 1, "y = x.data * 2"),
        (line + 2, "c = x.sum().item()"),
    ]
    assert str(p.findings[0]).startswith(f"{__file__}, line {line + 1}: y = x.data * 2\n  .data takes")
    x = torch.randn(3, dtype=DOUBLE, requires_grad=True)
    (wanted,) = torch.autograd.grad(f(x), x)
    np.testing.assert_allclose(sg.grad(p["out"], "x")(x=x.detach().numpy()), wanted.numpy())


def on_if(x):
    if x.sum() > 0:
        return x
    return -x


def on_int(x):
    return sum(x for _ in range(int(x[0])))


def on_assert(x):
    assert (x > 0).all()
    return x


@pytest.mark.parametrize(
    ("function", "what", "line"),
    [
        (on_if, "an `if`", "    if x.sum() > 0:"),
        (on_int, r"int\(\) of a tensor", "    return sum(x for _ in range(int(x[0])))"),
        (on_assert, "an `if`, `while`, `and`, `or` or `assert` on a tensor", "    assert (x > 0).all()"),
        (lambda x: x + float(x.max()), r"float\(\) of a tensor", None),
        (lambda x: torch.from_numpy(x.numpy()), r"numpy\(\) of a tensor", None),
        (lambda x: x[x > 0].sum(), "the size of its result depends on values", None),
        (lambda x: undefined(x), "name 'undefined' is not defined", None),  # noqa: F821
        (lambda x: x @ torch.ones(5), "inconsistent tensor size", None),
        (lambda x: torch.fft.fft(x).abs(), "complex64", None),
    ],
)
def test_what_depends_on_values_is_one_error_with_its_line(function, what, line):
    with pytest.raises(UnsupportedError, match=what) as error:
        sg.from_torch(function, (3,))
    if line is not None:
        assert error.value.at is not None
        assert error.value.at.source.name == __file__
        assert line.strip() in str(error.value)


def test_all_that_is_not_covered_is_one_error():
    def f(x):
        h = torch.randn(3) * x
        h = h + torch.linalg.svd(x[None])[1]
        return F.dropout(h) + torch.linalg.eigvalsh(x[:, None] * x)

    line = f.__code__.co_firstlineno
    with pytest.raises(UnsupportedError) as error:
        sg.from_torch(f, (3,))
    text = str(error.value)
    assert text.startswith("4 operations of torch cannot be read:")
    for what, k in (
        ("aten.randn: draws", 1),
        ("aten.linalg_svd: it has", 2),
        ("aten.dropout: dropout", 3),
        ("aten.linalg_eigvalsh", 3),
    ):
        assert what in text
        assert f"line {line + k}:" in text
    assert "pass the noise as an argument" in text


def test_writes_that_are_not_read():
    def f(x):
        y = x.expand(2, 3)
        y.mul_(2)
        return y

    with pytest.raises(UnsupportedError, match="in place to a view of this kind"):
        sg.from_torch(f, (3,))

    def g(x, y):
        z = x.clone()
        with torch.no_grad():
            z.mul_(y)
        return z

    with pytest.raises(
        UnsupportedError, match=r"a write in place to a tensor from outside of torch\.no_grad"
    ):
        sg.from_torch(g, (3,), (3,))


class Straight(torch.autograd.Function):
    """A gradient of one's own, in torch's way."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent


def with_function(x):
    return Straight.apply(x) ** 2


def with_inference(x):
    with torch.inference_mode():
        y = x * 2
    return y + x


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (with_function, "the gradient that Straight gives itself"),
        (with_inference, r"torch.inference_mode\(\)"),
        (lambda x: torch.func.vmap(torch.sin)(x), "block or transform of torch's"),
        (lambda x: torch.func.grad(lambda a: (a**3).sum())(x), "torch.func"),
    ],
)
def test_what_torch_would_leave_out_without_a_word(function, what):
    with pytest.raises(UnsupportedError, match=what):
        sg.from_torch(function, (3,))


def test_hooks_of_the_backward_pass_are_refused():
    m = nn.Sequential(nn.Linear(3, 2))
    m[0].register_full_backward_hook(lambda *a: None)
    with pytest.raises(UnsupportedError, match="'0' has a hook"):
        sg.from_torch(m, (5, 3))
    m = nn.Linear(3, 2)
    m.weight.register_hook(lambda g: g * 2)
    with pytest.raises(UnsupportedError, match="'weight' has a hook"):
        sg.from_torch(m, (5, 3))


def test_distributions_are_read_and_their_draws_refused():
    validated = torch.distributions.Distribution._validate_args

    def f(mu, logits, action):
        normal, choice = torch.distributions.Normal(mu, 2.0), torch.distributions.Categorical(logits=logits)
        kl = torch.distributions.kl_divergence(normal, torch.distributions.Normal(0.0, 1.0)).sum()
        return kl + normal.log_prob(mu * 2).sum() + choice.log_prob(action).mean() - choice.entropy().sum()

    mu, logits = (torch.randn(s, dtype=DOUBLE, requires_grad=True) for s in ((3,), (4, 3)))
    action = torch.tensor([0, 2, 1, 1])
    p = sg.from_torch(f, mu, logits, action)
    out = p.returned["out"]
    wanted = torch.autograd.grad(f(mu, logits, action), [mu, logits])
    for name, slope in zip(("mu", "logits"), wanted, strict=True):
        k = sg.compile(sg.grad(out, name), list(p.inputs))
        found = k(mu.detach().numpy(), logits.detach().numpy(), action.numpy())
        np.testing.assert_allclose(found, slope.numpy(), rtol=1e-9, atol=1e-12)
    with pytest.raises(UnsupportedError, match="draws random numbers"):
        sg.from_torch(lambda mu: torch.distributions.Normal(mu, 1.0).rsample(), (3,))
    assert torch.distributions.Distribution._validate_args is validated


@pytest.mark.filterwarnings("ignore:To copy construct:UserWarning")  # torch's advice
def test_copies_that_are_detached():
    def f(x):
        y = torch.tensor(x) * x
        z = x * 3
        z.detach_()
        return (y + z * x).sum()

    p = sg.from_torch(f, (3,))
    x = np.array([1.0, 2.0, -3.0])
    np.testing.assert_allclose(sg.grad(p["out"], "x")(x=x), x + 3 * x)


def test_second_derivatives_of_a_model():
    m, args = models()["VAE"]
    p = sg.from_torch(m, *args)
    (w,) = (p[n] for n in p.parameters if n == "mu_weight")
    slope = sg.grad(p["loss"], w)
    again = sg.compile(sg.grad(sg.sum(slope**2), w), list(p.inputs))(*numpy(values_of(p, args)))
    (first,) = torch.autograd.grad(m(*args)["loss"], m.mu.weight, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), m.mu.weight)
    np.testing.assert_allclose(again, second.numpy(), rtol=1e-9, atol=1e-11)


def test_gradients_taken_inside():
    def f(x):
        inner = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad((inner**3).sum(), inner)
        return (slope * x).sum()

    p = sg.from_torch(f, (3,))
    np.testing.assert_allclose(sg.grad(p["out"], "x")(x=np.array([1.0, 2.0, -3.0])), [3.0, 12.0, 27.0])


def test_an_own_program_inside_is_named():
    f = sg.to_torch(sg.sin(sg.symbols("x")))
    with pytest.raises(UnsupportedError, match="a program of symgrad's"):
        sg.from_torch(lambda x: f(x) * 2, (3,))


def test_programs_pickle():
    m, args = models()["VAE"]
    p = sg.from_torch(m, *args)
    q = pickle.loads(pickle.dumps(p))
    assert q.names == p.names
    assert list(q.returned) == ["loss", "bce", "kld"]
    assert q["loss"].same(p["loss"])
    assert q.places == p.places


def test_a_debugger_keeps_its_place():
    seen = []
    before = sys.gettrace()

    def trace(frame, event, arg):
        seen.append(event)

    sys.settrace(trace)
    try:
        sg.from_torch(lambda x: x * 2, (3,))
        assert sys.gettrace() is trace
        with pytest.raises(UnsupportedError):
            sg.from_torch(on_if, (3,))
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_another_release_is_refused(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "3.1.0+cpu")
    with pytest.raises(
        UnsupportedError, match=r"programs are read from torch 2.9 to 2.13, and this is torch 3.1.0\+cpu"
    ):
        sg.from_torch(lambda x: x, (3,))
    assert torch_trace.VERSIONS == ((2, 9), (2, 13))


def test_what_is_no_function_is_refused():
    with pytest.raises(UsageError, match="a value of type int"):
        sg.from_torch(3)


def test_sizes_with_names():
    def loss(x, w, t):
        n = x.shape[0]
        h = torch.tanh(x @ w)
        late = (torch.ones(n, n, dtype=DOUBLE).tril() @ h) + torch.arange(n) * h.std()
        total = ((late - t) ** 2).mean() + torch.softmax(h, 0).var() + x.view(n * 3)[1:].sum() / n + h[-1]
        return total + torch.cat([h, h]).sum()

    p = sg.from_torch(loss, ("n", 3), torch.ones(3, dtype=DOUBLE), "real[n]")
    assert [e.shape for e in p.inputs] == [("n", 3), (3,), ("n",)]
    assert p["h"].shape == ("n",)
    out = p.returned["out"]
    k = sg.compile([out, *sg.grad(out, ["x", "w", "t"])], ["x", "w", "t"])
    for n in (2, 3, 6):
        args = [torch.randn(s, dtype=DOUBLE, requires_grad=True) for s in ((n, 3), (3,), (n,))]
        wanted = loss(*args)
        slopes = torch.autograd.grad(wanted, args)
        value, *found = k(*numpy(args))
        assert value == pytest.approx(wanted.item(), rel=1e-11)
        for g, slope in zip(found, slopes, strict=True):
            np.testing.assert_allclose(g, slope.numpy(), rtol=1e-9, atol=1e-11)


def test_a_module_for_every_size_of_a_batch():
    m = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2)).double()
    p = sg.from_torch(m, (torch.export.Dim("batch"), 3))
    out = p.returned["out"]
    assert out.shape == ("batch", 2)
    assert p.findings == ()
    x = torch.randn(7, 3, dtype=DOUBLE)
    found = out(input=x.numpy(), **{n: v.detach().numpy() for n, v in p.values.items()})
    np.testing.assert_allclose(found, m(x).detach().numpy(), rtol=1e-12)
    bounded = sg.from_torch(lambda x: x if x.shape[0] > 3 else 2 * x, (torch.export.Dim("n", min=4),))
    assert str(bounded.findings[0]).startswith("the function was read for n from 4 on")


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: sum(x[k] for k in range(x.shape[0])), "specialized it to be a constant"),
        (lambda x: x if x.shape[0] > 3 else 2 * x, "Not all values of n = "),
        (lambda x: x + torch.ones(5), "needs the number of a size that is a name"),
        (lambda x: x.roll(1), "aten.roll: of the size n"),
        (lambda x: x.cumprod(0), "n steps along an axis"),
    ],
)
def test_what_needs_the_number_of_a_size(function, what):
    with pytest.raises(UnsupportedError, match=what):
        sg.from_torch(function, ("n",))


def test_lines_of_the_user_in_explanations():
    def loss(w, x, u):
        h = torch.tanh(x @ w)
        noisy = h.detach() * (1 + 0.1 * u) + torch.relu(h)
        return (noisy**2).sum()

    p = sg.from_torch(loss, (3,), (5, 3), "Normal(0, 1)[5]")
    line = loss.__code__.co_firstlineno
    d = sg.explain(p["out"], "w")
    assert [(place.file, place.line) for place in d.noise["u"].places] == [(__file__, line + 2)]
    assert "noisy = h.detach() * (1 + 0.1 * u) + torch.relu(h)" in " ".join(str(d).split())
    assert {s.rule: s.place.line for s in d.steps}["tanh"] == line + 1
    q = sg.from_torch(lambda x: x.detach().sum() * 2, (3,))
    assert "x.detach().sum() * 2" in " ".join(str(sg.explain(q.returned["out"], "x")).split())
    again = pickle.loads(pickle.dumps(p))
    assert again.places == p.places
    assert again.listing.places


def test_claims_about_what_was_read():
    def f(x):
        return torch.logsumexp(torch.stack([x, torch.zeros_like(x)]), 0).sum()

    p = sg.from_torch(f, (3,))
    assert sg.equal(sg.grad(p["out"], "x"), sg.nn.sigmoid(p["x"])).status in ("proved", "supported")
    with pytest.raises(MissingInputError):
        p["out"]()


def written_to(x):
    mask = x > 0
    mask[1] = True
    mask[:1] = ~mask[2:]
    return torch.where(mask, x, 0)


MOVED = {
    "unsqueeze": lambda x: torch.where((x > 0)[None, :].expand(2, 3), x, 0),
    "reshape": lambda x: torch.where((x > 0).reshape(3, 1).T, x, 0),
    "cat": lambda x: torch.where(torch.cat([x > 0, x > 1]), torch.cat([x, x]), 0),
    "stack": lambda x: torch.where(torch.stack([x > 0, x > 1]), x, 0),
    "flip and roll": lambda x: torch.where((x > 0).flip(0).roll(1), ~(x > 1), x > 0) * x,
    "gather": lambda x: torch.where((x > 0).gather(0, torch.tensor([0, 1, 1])), x, 0),
    "index": lambda x: torch.where((x > 0)[[2, 1, 0]], x, 0),
    "chunk": lambda x: torch.where(~(x > 0).chunk(3)[1], x, 0),
    "pad": lambda x: torch.where(F.pad(x > 0, (0, 1)), 1.0, 0.0),
    "written to": written_to,
}


@pytest.mark.parametrize("name", MOVED)
def test_truth_values_that_are_moved(name):
    p = sg.from_torch(MOVED[name], (3,))
    x = np.array([0.5, -1.0, 2.0])
    found = next(iter(p.returned.values()))(**{str(p.inputs[0].name): x})
    np.testing.assert_array_equal(found, MOVED[name](torch.tensor(x)).numpy())


def test_gradients_that_are_divided_by_counts_are_refused():
    with pytest.raises(UnsupportedError, match="scale_grad_by_freq=True"):
        sg.from_torch(lambda w: F.embedding(torch.tensor([0, 0, 1]), w, scale_grad_by_freq=True), (3, 2))
