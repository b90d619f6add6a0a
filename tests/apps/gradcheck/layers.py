"""Layers with backward passes as people write them in NumPy: right ones, and each with one planted mistake."""

# Functions of arrays, as users write them: without annotations.
# pyright: basic

import numpy as np


def softmax_cross_entropy(z, y):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -np.mean(np.sum(y * np.log(p), axis=1))


def softmax_cross_entropy_backward(z, y):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return (p * y.sum(axis=1, keepdims=True) - y) / z.shape[0]


def softmax_cross_entropy_backward_sum(z, y):
    """The gradient of the sum over examples, where the loss is their mean."""
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return p * y.sum(axis=1, keepdims=True) - y


def labelled_cross_entropy(z, labels):
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(z.shape[0]), labels]).mean()


def labelled_cross_entropy_backward(z, labels):
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    p[np.arange(z.shape[0]), labels] -= 1
    return p / z.shape[0]


def labelled_cross_entropy_backward_plus(z, labels):
    """The labels are added."""
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    p[np.arange(z.shape[0]), labels] += 1
    return p / z.shape[0]


def batch_norm(x, gamma, beta):
    xhat = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)
    return gamma * xhat + beta


def batch_norm_backward(x, gamma, beta, dout):
    n = x.shape[0]
    inv_std = 1 / np.sqrt(x.var(axis=0) + 1e-5)
    xhat = (x - x.mean(axis=0)) * inv_std
    dxhat = dout * gamma
    dx = inv_std / n * (n * dxhat - dxhat.sum(axis=0) - xhat * np.sum(dxhat * xhat, axis=0))
    return dx, np.sum(dout * xhat, axis=0), dout.sum(axis=0)


def batch_norm_backward_variance(x, gamma, beta, dout):
    """The variance is held fixed."""
    n = x.shape[0]
    inv_std = 1 / np.sqrt(x.var(axis=0) + 1e-5)
    xhat = (x - x.mean(axis=0)) * inv_std
    dxhat = dout * gamma
    dx = inv_std / n * (n * dxhat - dxhat.sum(axis=0))
    return dx, np.sum(dout * xhat, axis=0), dout.sum(axis=0)


def layer_norm(x, gamma, beta):
    mu = x.mean(axis=1, keepdims=True)
    std = np.sqrt(((x - mu) ** 2).mean(axis=1, keepdims=True) + 1e-5)
    return gamma * (x - mu) / std + beta


def layer_norm_backward(x, gamma, beta, dout):
    mu = x.mean(axis=1, keepdims=True)
    std = np.sqrt(((x - mu) ** 2).mean(axis=1, keepdims=True) + 1e-5)
    xhat = (x - mu) / std
    g = dout * gamma
    dx = (g - g.mean(axis=1, keepdims=True) - xhat * (g * xhat).mean(axis=1, keepdims=True)) / std
    return dx, np.sum(dout * xhat, axis=0), dout.sum(axis=0)


def layer_norm_backward_gamma(x, gamma, beta, dout):
    """The gradient by gamma lacks the normalised input."""
    dx, _, dbeta = layer_norm_backward(x, gamma, beta, dout)
    return dx, dout.sum(axis=0), dbeta


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s)
    return (e / e.sum(axis=1, keepdims=True)) @ v


def attention_backward(q, k, v, dout):
    scale = np.sqrt(q.shape[1])
    e = np.exp(q @ k.T / scale)
    a = e / e.sum(axis=1, keepdims=True)
    da = dout @ v.T
    ds = a * (da - np.sum(da * a, axis=1, keepdims=True)) / scale
    return ds @ k, ds.T @ q, a.T @ dout


def attention_backward_diagonal(q, k, v, dout):
    """Of the Jacobian of softmax the diagonal alone."""
    scale = np.sqrt(q.shape[1])
    e = np.exp(q @ k.T / scale)
    a = e / e.sum(axis=1, keepdims=True)
    ds = (dout @ v.T) * a * (1 - a) / scale
    return ds @ k, ds.T @ q, a.T @ dout


def _gates(x, h, c, W, U, b):
    z = x @ W + h @ U + b
    n = c.shape[1]
    i, f, o = (1 / (1 + np.exp(-z[:, k * n : (k + 1) * n])) for k in range(3))
    return i, f, o, np.tanh(z[:, 3 * n :])


def lstm_cell(x, h, c, W, U, b):
    i, f, o, g = _gates(x, h, c, W, U, b)
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next


def lstm_cell_backward(x, h, c, W, U, b, dh_next, dc_next):
    i, f, o, g = _gates(x, h, c, W, U, b)
    t = np.tanh(f * c + i * g)
    dc = dc_next + dh_next * o * (1 - t**2)
    gates = [dc * g * i * (1 - i), dc * c * f * (1 - f), dh_next * t * o * (1 - o), dc * i * (1 - g**2)]
    dz = np.concatenate(gates, axis=1)
    return dz @ W.T, dz @ U.T, dc * f, x.T @ dz, h.T @ dz, dz.sum(axis=0)


def lstm_cell_backward_tanh(x, h, c, W, U, b, dh_next, dc_next):
    """The derivative of tanh on the way from h_next to c_next is forgotten."""
    i, f, o, g = _gates(x, h, c, W, U, b)
    t = np.tanh(f * c + i * g)
    dc = dc_next + dh_next * o
    gates = [dc * g * i * (1 - i), dc * c * f * (1 - f), dh_next * t * o * (1 - o), dc * i * (1 - g**2)]
    dz = np.concatenate(gates, axis=1)
    return dz @ W.T, dz @ U.T, dc * f, x.T @ dz, h.T @ dz, dz.sum(axis=0)
