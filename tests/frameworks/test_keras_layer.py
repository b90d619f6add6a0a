"""Keras layers of programs on the three backends, each in a process of its own: a backend is chosen by the import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BACKENDS = ["jax", "torch", "tensorflow"]


def run(backend: str, *command: str, where: Path = ROOT) -> str:
    """Run Python on a backend of Keras, and return what it prints."""
    pytest.importorskip(backend)
    environment = os.environ | {
        "KERAS_BACKEND": backend,
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    done = subprocess.run(
        [sys.executable, *command],
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_layers(backend):
    path = "tests/frameworks/keras_layer.py"
    ignored = [
        "-W",
        "ignore::DeprecationWarning",
        "-W",
        "ignore::FutureWarning",
    ]  # of the frameworks about each other
    run(backend, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *ignored, path)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_example(backend, tmp_path):
    said = run(
        backend, "-W", "error", str(ROOT / "examples" / "keras_noise_layer.py"), backend, where=tmp_path
    )
    assert f"on {backend}" in said
    assert "saved and loaded: the same bits: True" in said


def test_a_model_is_loaded_on_another_backend(tmp_path):
    write = (
        "import keras, symgrad as sg; x = sg.symbols('x');"
        "keras.Sequential([keras.Input((2,)), sg.to_keras(sg.sin(x)*x)]).save('m.keras')"
    )
    read = "import keras, symgrad.interop.exporters.keras; print(keras.saving.load_model('m.keras').layers[-1].program)"
    run("torch", "-c", write, where=tmp_path)
    assert "sin(x)*x" in run("jax", "-c", read, where=tmp_path)
