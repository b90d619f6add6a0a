"""Gradient code with loops and writes into arrays, as people write it in NumPy: right, and with one planted mistake."""

# Functions of arrays, as users write them: without annotations.
# pyright: basic

import numpy as np


def affine(x, w, b):
    return x @ w + b


def affine_backward(x, w, b, dout):
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    for i in range(x.shape[0]):
        dx[i] += w @ dout[i]
        dw += np.outer(x[i], dout[i])
        db += dout[i]
    return dx, dw, db


def affine_backward_wrong(x, w, b, dout):
    """Each row overwrites the gradient of the weights."""
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    for i in range(x.shape[0]):
        dx[i] += w @ dout[i]
        dw[...] = np.outer(x[i], dout[i])
        db += dout[i]
    return dx, dw, db


def conv1d(x, w):
    out = np.zeros(len(x) - len(w) + 1)
    for i in range(len(out)):
        out[i] = np.sum(x[i : i + len(w)] * w)
    return out


def conv1d_backward(x, w, dout):
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for i in range(len(dout)):
        dx[i : i + len(w)] += w * dout[i]
        dw += x[i : i + len(w)] * dout[i]
    return dx, dw


def conv1d_backward_wrong(x, w, dout):
    """Windows that overlap overwrite each other."""
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for i in range(len(dout)):
        dx[i : i + len(w)] = w * dout[i]
        dw += x[i : i + len(w)] * dout[i]
    return dx, dw


def softmax_loss(W, X, y):
    loss = 0.0
    for i in range(X.shape[0]):
        scores = X[i].dot(W)
        scores -= np.max(scores)
        loss += -scores[y[i]] + np.log(np.sum(np.exp(scores)))
    return loss / X.shape[0] + 0.5 * np.sum(W * W)


def softmax_loss_grad(W, X, y):
    dW = np.zeros_like(W)
    for i in range(X.shape[0]):
        scores = X[i].dot(W)
        scores -= np.max(scores)
        p = np.exp(scores) / np.sum(np.exp(scores))
        for j in range(W.shape[1]):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    dW /= X.shape[0]
    dW += W
    return dW


def softmax_loss_grad_wrong(W, X, y):
    """The factor one half of the penalty is forgotten."""
    return softmax_loss_grad(W, X, y) + W


def softmax_labels(z, y):
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(len(z)), y]).mean()


def softmax_labels_grad(z, y):
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    dz = p
    dz[np.arange(len(z)), y] -= 1
    dz /= len(z)
    return p


def softmax_labels_grad_wrong(z, y):
    """The label is subtracted from a copy."""
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    dz = p.copy()
    dz[np.arange(len(z)), y] -= 1
    dz /= len(z)
    return p / len(z)


def batch_norm(x, gamma, beta):
    xhat = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)
    return gamma * xhat + beta


def batch_norm_backward(x, gamma, beta, dout):
    n, d = x.shape
    dx, dgamma, dbeta = np.empty_like(x), np.empty(d), np.empty(d)
    for j in range(d):
        centred = x[:, j] - np.mean(x[:, j])
        inv = 1 / np.sqrt(np.mean(centred**2) + 1e-5)
        xhat, g = centred * inv, dout[:, j] * gamma[j]
        np.multiply(inv / n, n * g - np.sum(g) - xhat * np.sum(g * xhat), out=dx[:, j])
        dgamma[j] = np.sum(dout[:, j] * xhat)
        dbeta[j] = np.sum(dout[:, j])
    return dx, dgamma, dbeta


def batch_norm_backward_wrong(x, gamma, beta, dout):
    """The variance is held fixed."""
    n, d = x.shape
    dx, dgamma, dbeta = np.empty_like(x), np.empty(d), np.empty(d)
    for j in range(d):
        centred = x[:, j] - np.mean(x[:, j])
        inv = 1 / np.sqrt(np.mean(centred**2) + 1e-5)
        xhat, g = centred * inv, dout[:, j] * gamma[j]
        np.multiply(inv / n, n * g - np.sum(g), out=dx[:, j])
        dgamma[j] = np.sum(dout[:, j] * xhat)
        dbeta[j] = np.sum(dout[:, j])
    return dx, dgamma, dbeta


def lstm_step(z, c):
    n = len(c)
    i, f, o = (1 / (1 + np.exp(-z[k * n : (k + 1) * n])) for k in range(3))
    c_next = f * c + i * np.tanh(z[3 * n :])
    return o * np.tanh(c_next), c_next


def _lstm_step_backward(z, c, dh, dc_next, carried):
    n = len(c)
    i, f, o = (1 / (1 + np.exp(-z[k * n : (k + 1) * n])) for k in range(3))
    g = np.tanh(z[3 * n :])
    t = np.tanh(f * c + i * g)
    dc = dc_next.copy()
    if carried:
        dc += dh * o * (1 - t**2)
    dz = np.zeros_like(z)
    di, df, do, dg = dz.reshape(4, n)
    di += dc * g * i * (1 - i)
    df += dc * c * f * (1 - f)
    do += dh * t * o * (1 - o)
    dg += dc * i * (1 - g**2)
    return dz, dc * f


def lstm_step_backward(z, c, dh, dc_next):
    return _lstm_step_backward(z, c, dh, dc_next, True)


def lstm_step_backward_wrong(z, c, dh, dc_next):
    """What comes by the output is not carried to the cell."""
    return _lstm_step_backward(z, c, dh, dc_next, False)


def embedding(table, ids):
    return table[ids]


def embedding_backward(table, ids, dout):
    grad = np.zeros_like(table)
    np.add.at(grad, ids, dout)
    return grad


def embedding_backward_wrong(table, ids, dout):
    """A row that is looked up twice counts once."""
    grad = np.zeros_like(table)
    grad[ids] += dout
    return grad


def relu_loss(x, w):
    return np.sum(np.maximum(x @ w, 0) ** 2)


def relu_loss_grad(x, w):
    z = x @ w
    dz = 2 * z
    dz[z <= 0] = 0
    return np.outer(dz, w), x.T @ dz


def relu_loss_grad_wrong(x, w):
    """The gradient is cut where it is negative, as in guided backpropagation, of another array."""
    z = x @ w
    dz = 2 * z
    dz[x[:, 0] <= 0] = 0
    return np.outer(dz, w), x.T @ dz


def masked_loss(pred, target, mask):
    return np.sum(mask * (pred - target) ** 2) / np.sum(mask)


def masked_loss_grad(pred, target, mask):
    g = np.zeros_like(pred)
    for i in range(pred.shape[0]):
        for j in range(pred.shape[1]):
            g[i, j] = 2 * mask[i, j] * (pred[i, j] - target[i, j])
    g /= mask.sum()
    return g


def masked_loss_grad_wrong(pred, target, mask):
    """The mean is over all entries."""
    g = np.zeros_like(pred)
    for i in range(pred.shape[0]):
        for j in range(pred.shape[1]):
            g[i, j] = 2 * mask[i, j] * (pred[i, j] - target[i, j])
    g /= pred.size
    return g


def max_pool(x):
    out = np.zeros((x.shape[0] // 2, x.shape[1] // 2))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return out


def max_pool_backward(x, dout):
    dx = np.zeros_like(x)
    for i in range(dout.shape[0]):
        for j in range(dout.shape[1]):
            window = x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            dx[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] += (window == np.max(window)) * dout[i, j]
    return dx


def max_pool_backward_wrong(x, dout):
    """The gradient is spread over the window."""
    dx = np.zeros_like(x)
    for i in range(dout.shape[0]):
        for j in range(dout.shape[1]):
            dx[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] += dout[i, j] / 4
    return dx


def hinge(W, x, y):
    scores = x @ W
    loss = 0.0
    for j in range(W.shape[1]):
        if j == y:
            continue
        margin = scores[j] - scores[y] + 1
        if margin > 0:
            loss += margin
    return loss


def hinge_grad(W, x, y):
    dW = np.zeros(W.shape)
    scores = x @ W
    for j in range(W.shape[1]):
        if j == y:
            continue
        if scores[j] - scores[y] + 1 > 0:
            dW[:, j] += x
            dW[:, y] -= x
    return dW


def hinge_grad_wrong(W, x, y):
    """The right class is forgotten."""
    dW = np.zeros(W.shape)
    scores = x @ W
    for j in range(W.shape[1]):
        if j == y:
            continue
        if scores[j] - scores[y] + 1 > 0:
            dW[:, j] += x
    return dW


def pooled(x):
    out = np.zeros(2)
    for i in range(2):
        out[i] = max(x[2 * i], x[2 * i + 1])
    return out


def pooled_argmax_grad(x, dout):
    dx = np.zeros_like(x)
    for i in range(2):
        dx[2 * i + np.argmax(x[2 * i : 2 * i + 2])] += dout[i]
    return dx


def pooled_argmax_grad_wrong(x, dout):
    """The position in the window is taken for that in the array."""
    dx = np.zeros_like(x)
    for i in range(2):
        dx[np.argmax(x[2 * i : 2 * i + 2])] += dout[i]
    return dx
