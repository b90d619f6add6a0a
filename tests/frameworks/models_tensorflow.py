"""Five models of common style in TensorFlow and Keras: a CNN, an LSTM cell, a transformer block, a VAE, a PPO loss."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

keras: Any = import_module("keras")
tf: Any = import_module("tensorflow")


def cnn() -> tuple[Any, dict[str, Any]]:
    model = keras.Sequential(
        [
            keras.layers.Input((10, 10, 1)),
            keras.layers.Conv2D(4, 3, padding="same", activation="relu", name="conv1"),
            keras.layers.MaxPooling2D(2),
            keras.layers.BatchNormalization(name="norm"),
            keras.layers.SeparableConv2D(6, 3, strides=2, padding="same", activation="elu", name="conv2"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(10, name="scores"),
        ]
    )

    def cnn(images, labels):
        logits = model(images, training=True)
        each = keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        return tf.reduce_mean(each)

    cnn.keras_model = model
    return cnn, {"images": some(4, 10, 10, 1), "labels": RNG.integers(0, 10, 4)}


def lstm() -> tuple[Any, dict[str, Any]]:
    d = 8
    wx, wh = tf.Variable(some(5, 4 * d), name="wx"), tf.Variable(some(d, 4 * d), name="wh")
    b, out = tf.Variable(some(4 * d), name="b"), tf.Variable(some(d, 2), name="out")

    def cell(x, h, c):
        gates = tf.matmul(x, wx) + tf.matmul(h, wh) + b
        i, f, g, o = tf.split(gates, 4, axis=-1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    def lstm(xs, target):
        h = c = tf.zeros((xs.shape[1], d), xs.dtype)
        for x in tf.unstack(xs):
            h, c = cell(x, h, c)
        return tf.reduce_mean(tf.math.squared_difference(h @ out, target))

    return lstm, {"xs": some(6, 4, 5), "target": some(4, 2)}


def transformer_block() -> tuple[Any, dict[str, Any]]:
    n, d, heads = 6, 8, 2
    weights = {name: tf.Variable(some(d, d), name=name) for name in ("wq", "wk", "wv", "wo")}
    w1, w2 = tf.Variable(some(d, 4 * d), name="w1"), tf.Variable(some(4 * d, d), name="w2")
    norms = [keras.layers.LayerNormalization(name=f"norm{k}") for k in (1, 2)]
    for layer in norms:
        layer.build((n, d))

    def transformer_block(x, target):
        a = norms[0](x)
        q, k, v = (
            tf.transpose(tf.reshape(a @ weights[name], (n, heads, d // heads)), (1, 0, 2))
            for name in ("wq", "wk", "wv")
        )
        scores = tf.einsum("hqd,hkd->hqk", q, k) / tf.sqrt(tf.cast(d // heads, x.dtype))
        causal = tf.cast(tf.linalg.band_part(tf.ones((n, n)), -1, 0), tf.bool)
        attention = tf.nn.softmax(tf.where(causal, scores, -1e9), axis=-1)
        mixed = tf.reshape(tf.transpose(attention @ v, (1, 0, 2)), (n, d))
        x = x + mixed @ weights["wo"]
        x = x + tf.nn.gelu(norms[1](x) @ w1) @ w2
        return tf.reduce_sum((x - target) ** 2)

    return transformer_block, {"x": some(n, d), "target": some(n, d)}


def vae() -> tuple[Any, dict[str, Any]]:
    encoder = keras.Sequential(
        [keras.layers.Input((12,)), keras.layers.Dense(8, activation="tanh", name="enc")]
    )
    mean, logvar = keras.layers.Dense(3, name="mean"), keras.layers.Dense(3, name="logvar")
    decoder = keras.Sequential(
        [
            keras.layers.Input((3,)),
            keras.layers.Dense(8, activation="relu", name="dec1"),
            keras.layers.Dense(12, name="dec2"),
        ]
    )
    mean.build((4, 8))
    logvar.build((4, 8))

    def vae(x, noise):
        h = encoder(x)
        mu, s = mean(h), logvar(h)
        z = mu + tf.exp(0.5 * s) * noise
        logits = decoder(z)
        each = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        reconstruction = tf.reduce_sum(each, axis=-1)
        kl = -0.5 * tf.reduce_sum(1 + s - mu**2 - tf.exp(s), axis=-1)
        return tf.reduce_mean(reconstruction + kl)

    return vae, {"x": RNG.uniform(size=(4, 12)), "noise": some(4, 3)}


def ppo() -> tuple[Any, dict[str, Any]]:
    body = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(8, activation="tanh", name="body")])
    policy, value = keras.layers.Dense(3, name="policy"), keras.layers.Dense(1, name="value")
    policy.build((8, 8))
    value.build((8, 8))

    def ppo(observations, actions, old_logp, advantages, returns):
        h = body(observations)
        logits, values = policy(h), tf.squeeze(value(h), -1)
        logp_all = tf.nn.log_softmax(logits)
        logp = tf.gather(logp_all, actions, batch_dims=1)
        ratio = tf.exp(logp - old_logp)
        m, v = tf.nn.moments(advantages, axes=[0])
        adv = (advantages - m) / (tf.sqrt(v) + 1e-8)
        clipped = tf.clip_by_value(ratio, 0.8, 1.2)
        surrogate = -tf.reduce_mean(tf.minimum(ratio * adv, clipped * adv))
        loss_v = 0.5 * tf.reduce_mean((values - tf.stop_gradient(returns)) ** 2)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=-1))
        return surrogate + 0.5 * loss_v - 0.01 * entropy

    return ppo, {
        "observations": some(8, 6),
        "actions": RNG.integers(0, 3, 8),
        "old_logp": -RNG.uniform(0.5, 2, 8),
        "advantages": some(8),
        "returns": some(8),
    }


RNG = np.random.default_rng(3)


def some(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape) / np.sqrt(shape[0] if len(shape) > 1 else 1)


MODELS = {f.__name__: f for f in (cnn, lstm, transformer_block, vae, ppo)}


def made(name: str, dtype: str = "float64") -> tuple[Any, dict[str, Any]]:
    """Return a model, in a dtype, and its arguments as tensors."""
    before, policy = keras.config.floatx(), keras.config.dtype_policy()
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    try:
        keras.utils.set_random_seed(7)
        function, arguments = MODELS[name]()
    finally:
        keras.config.set_floatx(before)
        keras.config.set_dtype_policy(policy)
    return function, {
        k: tf.constant(v, tf.int32 if v.dtype.kind == "i" else dtype) for k, v in arguments.items()
    }
