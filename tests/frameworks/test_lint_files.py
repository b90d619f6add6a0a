"""`symgrad lint` of functions of each framework: findings of the graph and of the text, on the user's lines."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from symgrad.apps.cli import main


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(text: str, name: str, specs: str, *more: str) -> Result:
        needed = {*re.findall(r"(?:import|from) (jax|torch|tensorflow|keras)\b", text)}
        for framework in needed | ({"jax", "torch", "tensorflow", "keras"} & {*more}):
            pytest.importorskip(framework)
        Path("f.py").write_text(textwrap.dedent(text).lstrip("\n"))
        return CliRunner().invoke(
            main, ["lint", f"f.py::{name}", "--specs", specs, "--format", "json", *more]
        )

    return run


def codes(result: Result) -> list[tuple[str, int]]:
    """Return the codes of errors and warnings with their lines."""
    assert result.exit_code in (0, 1), result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return [
        (f["code"], f["places"][0]["line"] if f["places"] else 0) for f in found if f["severity"] != "note"
    ]


WHERE = {
    "jax": """
        import jax.numpy as jnp
        def f(x):
            return jnp.where(x > 0, jnp.sqrt(x), 0.0).sum()
    """,
    "torch": """
        import torch
        def f(x):
            return torch.where(x > 0, torch.sqrt(x), 0.0).sum()
    """,
    "tensorflow": """
        import tensorflow as tf
        def f(x):
            return tf.reduce_sum(tf.where(x > 0, tf.math.log(x), tf.zeros_like(x)))
    """,
    "keras": """
        from keras import ops
        def f(x):
            return ops.sum(ops.where(x > 0, ops.log(x), 0.0))
    """,
    "numpy": """
        import numpy as np
        def f(x):
            return np.where(x > 0, np.sqrt(x), 0.0).sum()
    """,
}


@pytest.mark.parametrize("framework", WHERE)
@pytest.mark.parametrize("said", [False, True])
def test_the_graph_is_checked_in_each_framework(call, framework: str, said: bool) -> None:
    option = ("--framework", framework) if said else ()
    assert codes(call(WHERE[framework], "f", "x : real[5]", *option)) == [("SG301", 3)]


@pytest.mark.parametrize("framework", WHERE)
def test_noise_is_found_by_its_distribution(call, framework: str) -> None:
    text = """
        def f(x, u):
            z = (x**2*u)**0.5
            return z
    """
    done = call(text, "f", "x : real; u ~ Uniform(0.9, 1.1)", "--noise", "u", "--framework", framework)
    assert ("SG103", 2) in codes(done)


LOST = {
    "float in JAX": ("import jax.numpy as jnp", "return jnp.sin(x).sum()*float(x[0])", "SG501"),
    "NumPy in JAX": ("import jax.numpy as jnp, numpy as np", "return jnp.sum(x)*np.sum(x)", "SG503"),
    "item in torch": ("import torch", "return torch.sin(x).sum()*x.max().item()", "SG501"),
    "data in torch": ("import torch", "return (torch.sin(x)*x.data).sum()", "SG502"),
    "a copy in torch": ("import torch", "return (torch.sin(x)*torch.tensor(x)).sum()", "SG504"),
    "numpy in TensorFlow": ("import tensorflow as tf", "return tf.reduce_sum(x*x.numpy())", "SG503"),
    "Keras to NumPy": ("import keras", "return keras.ops.sum(x*keras.ops.convert_to_numpy(x))", "SG503"),
}


@pytest.mark.parametrize("case", LOST)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_what_tracing_cannot_see_is_found_in_the_text(call, case: str) -> None:
    imports, line, code = LOST[case]
    done = call(f"{imports}\ndef f(x):\n    {line}\n", "f", "x : real[5]")
    assert codes(done)[0] == (code, 3), done.output
    assert "Traceback" not in done.output


def test_no_grad_around_what_flows_into_the_loss(call) -> None:
    text = """
        import torch
        def f(w, x):
            with torch.no_grad():
                target = torch.tanh(x @ w)
                unused = (x @ w).sum()
            return ((x @ w - target)**2).mean()
        def g(w, x):
            with torch.no_grad():
                print((x @ w).shape)
            return ((x @ w)**2).mean()
        @torch.no_grad()
        def h(w, x):
            return ((x @ w)**2).mean()
    """
    specs = "w : real[3]; x : real[n, 3]"
    assert ("SG505", 3) in codes(call(text, "f", specs))
    assert codes(call(text, "g", specs)) == []
    done = call(text, "h", specs)
    assert ("SG505", 11) in codes(done)
    assert next(f["severity"] for f in json.loads(done.stdout) if f["code"] == "SG505") == "error"


def test_a_module_is_followed_to_its_forward(call) -> None:
    text = """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.eps = nn.Linear(3, 1), 0.1
            def forward(self, x):
                return self.inner(x)*float(self.eps) + self.inner(x).data
        net = Net()
        def loss(x, y):
            return nn.functional.mse_loss(net(x), y)
    """
    assert codes(call(text, "loss", "x : real[5, 3]; y : real[5, 1]")) == [("SG502", 8)]
    assert codes(call(text, "net", "x : real[5, 3]")) == [("SG502", 8)]


def test_what_is_told_beside_the_loss_is_no_finding(call) -> None:
    text = """
        import torch
        def f(x):
            loss = torch.sin(x).sum()
            return loss, {"loss": loss.item()}
    """
    assert codes(call(text, "f", "x : real[5]")) == []


def test_what_cannot_be_traced_is_a_message_with_its_line(call) -> None:
    text = "import torch\ndef f(x):\n    return x.sum() if x.sum() > 0 else -x.sum()\n"
    done = call(text, "f", "x : real[5]")
    assert done.exit_code == 1
    assert "f.py, line 3" in done.stderr
    assert "torch.where" in done.stderr


def test_two_frameworks_are_asked_about(call) -> None:
    text = "import torch, jax.numpy as jnp\ndef f(x):\n    return jnp.sin(x) + torch.sin(x)\n"
    done = call(text, "f", "x : real")
    assert done.exit_code == 2
    assert "uses jax and torch" in done.stderr
    assert "--framework jax" in done.stderr
