"""Five models of common style in plain JAX: a small CNN, an LSTM, a transformer block, a VAE, and a PPO loss."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def cnn(params, images, labels):
    x = lax.conv_general_dilated(
        images, params["conv1"]["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = jax.nn.relu(x + params["conv1"]["b"])
    pooled = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = lax.conv_general_dilated(
        pooled, params["conv2"]["w"], (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    features = jax.nn.relu(x + params["conv2"]["b"]).reshape(images.shape[0], -1)
    logits = features @ params["dense"]["w"] + params["dense"]["b"]
    logp = jax.nn.log_softmax(logits)
    loss = -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1))
    return loss  # noqa: RET504


def lstm_cell(params, state, x):
    h, c = state
    gates = x @ params["wx"] + h @ params["wh"] + params["b"]
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def lstm(params, xs, target):
    start = jnp.zeros((xs.shape[1], params["wh"].shape[0]))
    _, hs = lax.scan(lambda s, x: lstm_cell(params, s, x), (start, start), xs)
    prediction = hs[-1] @ params["out"]
    return jnp.mean((prediction - target) ** 2)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias


def transformer_block(params, x, target, heads=2):
    n, d = x.shape
    a = layer_norm(x, params["ln1"]["scale"], params["ln1"]["bias"])
    q, k, v = (
        (a @ params[name]).reshape(n, heads, d // heads).transpose(1, 0, 2) for name in ("wq", "wk", "wv")
    )
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / jnp.sqrt(d // heads)
    causal = jnp.tril(jnp.ones((n, n), bool))
    attention = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    mixed = jnp.einsum("hqk,hkd->hqd", attention, v).transpose(1, 0, 2).reshape(n, d)
    x = x + mixed @ params["wo"]
    m = layer_norm(x, params["ln2"]["scale"], params["ln2"]["bias"])
    x = x + jax.nn.gelu(m @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]
    return jnp.sum((x - target) ** 2)


def vae(params, x, noise):
    h = jnp.tanh(x @ params["enc"])
    mean, logvar = h @ params["mean"], h @ params["logvar"]
    z = mean + jnp.exp(0.5 * logvar) * noise
    logits = jax.nn.relu(z @ params["dec1"]) @ params["dec2"]
    # Binary cross entropy from logits.
    reconstruction = jnp.sum(
        jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits))), axis=-1
    )
    kl = -0.5 * jnp.sum(1 + logvar - mean**2 - jnp.exp(logvar), axis=-1)
    return jnp.mean(reconstruction + kl)


def ppo(params, observations, actions, old_logp, advantages, returns, clip=0.2):
    h = jnp.tanh(observations @ params["w1"] + params["b1"])
    logits, values = h @ params["pi"], (h @ params["v"])[:, 0]
    logp_all = jax.nn.log_softmax(logits)
    logp = logp_all[jnp.arange(actions.shape[0]), actions]
    ratio = jnp.exp(logp - old_logp)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
    policy = -jnp.mean(jnp.minimum(ratio * advantages, clipped * advantages))
    value = 0.5 * jnp.mean((values - lax.stop_gradient(returns)) ** 2)
    entropy = -jnp.mean(jnp.sum(jnp.exp(logp_all) * logp_all, axis=-1))
    return policy + 0.5 * value - 0.01 * entropy


def models(scale=1, seed=3):
    """Return for every model its function, and arguments of moderate size."""
    rng = np.random.default_rng(seed)
    k = scale

    def some(*shape):
        return rng.normal(size=shape) / np.sqrt(max(shape[0] if len(shape) > 1 else 1, 1))

    b, d = 4 * k, 8 * k
    return {
        "cnn": (
            cnn,
            {
                "conv1": {"w": some(3, 3, 1, 4), "b": some(4)},
                "conv2": {"w": some(3, 3, 4, 6), "b": some(6)},
                "dense": {"w": some(24, 10), "b": some(10)},
            },
            some(b, 10, 10, 1),
            rng.integers(0, 10, b),
        ),
        "lstm": (
            lstm,
            {"wx": some(5, 4 * d), "wh": some(d, 4 * d), "b": some(4 * d), "out": some(d, 2)},
            some(6, b, 5),
            some(b, 2),
        ),
        "transformer_block": (
            transformer_block,
            {
                "ln1": {"scale": 1 + some(d), "bias": some(d)},
                "ln2": {"scale": 1 + some(d), "bias": some(d)},
                **{name: some(d, d) for name in ("wq", "wk", "wv", "wo")},
                "w1": some(d, 4 * d),
                "b1": some(4 * d),
                "w2": some(4 * d, d),
                "b2": some(d),
            },
            some(6, d),
            some(6, d),
        ),
        "vae": (
            vae,
            {
                "enc": some(12, d),
                "mean": some(d, 3),
                "logvar": some(d, 3),
                "dec1": some(3, d),
                "dec2": some(d, 12),
            },
            rng.uniform(size=(b, 12)),
            some(b, 3),
        ),
        "ppo": (
            ppo,
            {"w1": some(6, d), "b1": some(d), "pi": some(d, 3), "v": some(d, 1)},
            some(2 * b, 6),
            rng.integers(0, 3, 2 * b),
            -rng.uniform(0.5, 2, 2 * b),
            some(2 * b),
            some(2 * b),
        ),
    }
