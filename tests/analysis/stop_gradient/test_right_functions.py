"""Right functions of the usual kinds: lint warns of none of them; notes say what is true and harmless."""

from __future__ import annotations

import pytest

import symgrad as sg

FUNCTIONS = {
    "PPO": (
        """
        logp, old, A : real[n]
        r = exp(logp - stop_gradient(old))
        loss = -mean(minimum(r*A, clip(r, 0.8, 1.2)*A))
        """,
        "logp",
    ),
    "VQ-VAE argmin": (
        """
        ze, x, w : real[d]; E : real[k, d]
        dist = sum((E - ze)**2, axis=1)
        i = argmin(dist)
        e = E[i]
        zq = ze + stop_gradient(e - ze)
        loss = mean((w*zq - x)**2) + sum((stop_gradient(ze) - e)**2) + 0.25*sum((ze - stop_gradient(e))**2)
        """,
        "ze E w",
    ),
    "InfoNCE": (
        """
        a, b : real[n, d]
        za = a/sqrt(sum(a**2, axis=1, keepdims=True) + 1e-8)
        zb = b/sqrt(sum(b**2, axis=1, keepdims=True) + 1e-8)
        S = za @ zb.T/0.1
        loss = mean(logsumexp(S, axis=1) - diag(S))
        """,
        "",
    ),
    "SupCon": (
        """
        h : real[5, d]; lab : int[5]
        z = h/sqrt(sum(h**2, axis=1, keepdims=True) + 1e-8)
        m = where(lab[:, None] == lab[None, :], 1, 0) - eye(5)
        S0 = z @ z.T/0.1
        S = S0 - stop_gradient(max(S0, axis=1, keepdims=True))
        ex = exp(S)*(1 - eye(5))
        logp = S - log(sum(ex, axis=1, keepdims=True))
        loss = -mean(sum(m*logp, axis=1)/maximum(sum(m, axis=1), 1))
        """,
        "h",
    ),
    "BYOL": (
        """
        p, z : real[n, d]
        pn = p/sqrt(sum(p**2, axis=1, keepdims=True) + 1e-12)
        zn = z/sqrt(sum(z**2, axis=1, keepdims=True) + 1e-12)
        loss = mean(2 - 2*sum(pn*stop_gradient(zn), axis=1))
        """,
        "p",
    ),
    "SimSiam": (
        """
        p1, p2, z1, z2 : real[n, d]
        s1 = stop_gradient(z1/sqrt(sum(z1**2, axis=1, keepdims=True) + 1e-8))
        s2 = stop_gradient(z2/sqrt(sum(z2**2, axis=1, keepdims=True) + 1e-8))
        c1 = sum(p1*s2, axis=1)/sqrt(sum(p1**2, axis=1) + 1e-8)
        c2 = sum(p2*s1, axis=1)/sqrt(sum(p2**2, axis=1) + 1e-8)
        loss = -mean(c1)/2 - mean(c2)/2
        """,
        "p1 p2",
    ),
    "DINO": (
        """
        s, t : real[n, k]; c : real[k]
        pt = stop_gradient(softmax((t - c)/0.04, axis=1))
        loss = -mean(sum(pt*log_softmax(s/0.1, axis=1), axis=1))
        """,
        "s",
    ),
    "Gumbel straight through": (
        """
        l, w : real[5]; u ~ Uniform(0, 1)[5]
        p = softmax((l - log(-log(u)))/0.5)
        h = one_hot(argmax(p), 5)
        y = stop_gradient(h - p) + p
        loss = sum(w*y)
        """,
        "l w",
    ),
    "fake quantise": (
        """
        w, x : real[n]; s : positive
        q = clip(w/s, -128, 127)
        r = q + stop_gradient(round(q) - q)
        loss = mean((s*r*x)**2)
        """,
        "w s",
    ),
    "A2C": (
        """
        logp, v, R, H : real[n]
        adv = stop_gradient(R - v)
        loss = -mean(logp*adv) + 0.5*mean((R - v)**2) - 0.01*mean(H)
        """,
        "logp v",
    ),
    "DQN": (
        """
        q : real[n, 4]; qn : real[n, a]; r, done : real[n]; act : int[n]
        qa = sum(q*one_hot(act, 4), axis=1)
        t = stop_gradient(r + 0.99*(1 - done)*max(qn, axis=1))
        loss = mean((qa - t)**2)
        """,
        "q",
    ),
    "double DQN huber": (
        """
        q, qn, qt : real[n, 4]; r, done : real[n]; act : int[n]
        qa = sum(q*one_hot(act, 4), axis=1)
        nxt = sum(qt*one_hot(argmax(qn, axis=1), 4), axis=1)
        d = qa - stop_gradient(r + 0.99*(1 - done)*nxt)
        loss = mean(where(abs(d) < 1, d**2/2, abs(d) - 0.5))
        """,
        "q",
    ),
    "SAC critic": (
        """
        q1, q2, qt1, qt2, logp, r, done : real[n]; alpha : positive
        y = stop_gradient(r + 0.99*(1 - done)*(minimum(qt1, qt2) - alpha*logp))
        loss = mean((q1 - y)**2) + mean((q2 - y)**2)
        """,
        "q1 q2",
    ),
    "SAC actor tanh clipped": (
        """
        mu, raw, q : real[n]; eps ~ Normal(0, 1)[n]
        ls = clip(raw, -20, 2)
        u = mu + exp(ls)*eps
        a = tanh(u)
        logp = -eps**2/2 - ls - 0.5*log(2*pi) - 2*(log(2) - u - softplus(-2*u))
        loss = mean(0.2*logp - q*a)
        """,
        "mu raw",
    ),
    "REINFORCE normalised": (
        """
        logp, R : real[n]
        a = (R - mean(R))/(std(R) + 1e-8)
        loss = -mean(logp*stop_gradient(a))
        """,
        "logp",
    ),
    "DiCE": (
        """
        logp, R : real[n]
        m = exp(logp - stop_gradient(logp))
        loss = -mean(m*R)
        """,
        "logp",
    ),
    "GRPO": (
        """
        logp, old, ref, R : real[n]
        A = stop_gradient((R - mean(R))/(std(R) + 1e-6))
        r = exp(logp - stop_gradient(old))
        kl = exp(ref - logp) - (ref - logp) - 1
        loss = -mean(minimum(r*A, clip(r, 0.8, 1.2)*A) - 0.04*kl)
        """,
        "logp",
    ),
    "V-trace": (
        """
        logp, mu, A, v, vs : real[n]
        rho = stop_gradient(minimum(exp(logp - mu), 1))
        loss = -mean(rho*logp*stop_gradient(A)) + mean((v - stop_gradient(vs))**2)
        """,
        "logp v",
    ),
    "Huber": (
        """
        p, t : real[n]
        d = p - t
        loss = mean(where(abs(d) <= 1, d**2/2, abs(d) - 0.5))
        """,
        "p",
    ),
    "focal": (
        """
        z : real[n]; t : real(0, 1)[n]
        p = sigmoid(z)
        ce = -t*softplus(-z)*(-1) - (1 - t)*softplus(z)*(-1)
        pt = p*t + (1 - p)*(1 - t)
        loss = mean((1 - pt)**2*ce)
        """,
        "z",
    ),
    "label smoothing": (
        """
        z : real[n, 5]; y : int[n]
        t = 0.9*one_hot(y, 5) + 0.1/5
        loss = -mean(sum(t*log_softmax(z, axis=1), axis=1))
        """,
        "z",
    ),
    "logsumexp by hand": (
        """
        x : real[n]
        m = stop_gradient(max(x))
        y = m + log(sum(exp(x - m)))
        """,
        "x",
    ),
    "softmax by hand": (
        """
        z, t : real[k]
        s = z - stop_gradient(max(z))
        p = exp(s)/sum(exp(s))
        loss = sum((p - t)**2)
        """,
        "z",
    ),
    "softmax cross entropy": (
        """
        z : real[n, k]; t : real[n, k]
        loss = mean(logsumexp(z, axis=1) - sum(t*z, axis=1))
        """,
        "z",
    ),
    "contrastive margin": (
        """
        a, b : real[n, d]; y : real[n]
        d2 = sum((a - b)**2, axis=1)
        dist = sqrt(d2 + 1e-9)
        loss = mean(y*d2 + (1 - y)*maximum(1 - dist, 0)**2)
        """,
        "a b",
    ),
    "triplet": (
        """
        a, p, n_ : real[n, d]
        dp = sum((a - p)**2, axis=1)
        dn = sum((a - n_)**2, axis=1)
        loss = mean(maximum(dp - dn + 0.2, 0))
        """,
        "a p n_",
    ),
    "layer norm": (
        """
        x : real[n, d]; g, b : real[d]
        m = mean(x, axis=1, keepdims=True)
        v = mean((x - m)**2, axis=1, keepdims=True)
        y = g*(x - m)/sqrt(v + 1e-5) + b
        loss = sum(y**2)
        """,
        "x g b",
    ),
    "L1": (
        """
        w : real[d]; X : real[n, d]; y : real[n]
        loss = mean((X @ w - y)**2) + 0.01*sum(abs(w))
        """,
        "w",
    ),
    "GAN hinge": (
        """
        dr, df : real[n]
        loss = mean(relu(1 - dr)) + mean(relu(1 + df))
        """,
        "",
    ),
    "WGAN-GP": (
        """
        g : real[n, d]; fr, ff : real[n]
        gp = mean((sqrt(sum(g**2, axis=1) + 1e-12) - 1)**2)
        loss = mean(ff) - mean(fr) + 10*gp
        """,
        "",
    ),
    "BCE": (
        """
        z, t : real[n]
        loss = mean(maximum(z, 0) - z*t + log1p(exp(-abs(z))))
        """,
        "z",
    ),
    "denoising score matching": (
        """
        s, w : real[n]; x : real[n]; eps ~ Normal(0, 1)[n]; sigma : positive
        xt = x + sigma*eps
        loss = mean((w*xt + s + eps/sigma)**2)
        """,
        "s w",
    ),
    "VAE ELBO": (
        """
        mu, lv, x, w : real[n]; eps ~ Normal(0, 1)[n]
        z = mu + exp(lv/2)*eps
        loss = sum((w*z - x)**2) + 0.5*sum(mu**2 + exp(lv) - lv - 1)
        """,
        "mu lv w",
    ),
    "Gaussian NLL": (
        """
        mu, lv, y : real[n]
        loss = mean((y - mu)**2*exp(-lv) + lv)/2
        """,
        "mu lv",
    ),
    "deep relu": (
        """
        x : real[n, d]; W : real[d, h]; V : real[h, h]; v : real[h]; y : real[n]
        loss = mean((relu(relu(x @ W) @ V) @ v - y)**2)
        """,
        "W V v",
    ),
    "masked attention": (
        """
        Q, K, V : real[n, 4]; M : bool[n, n]
        S = where(M, Q @ K.T/2, -1e9)
        A = softmax(S, axis=1)
        loss = sum((A @ V)**2)
        """,
        "",
    ),
    "KL distill logs": (
        """
        s, t : real[n, k]
        lt = stop_gradient(log_softmax(t/4, axis=1))
        loss = 16*mean(sum(exp(lt)*(lt - log_softmax(s/4, axis=1)), axis=1))
        """,
        "s",
    ),
    "Barlow": (
        """
        a, b : real[n, 4]
        C = a.T @ b/10
        loss = sum((diag(C) - 1)**2) + 0.005*(sum(C**2) - sum(diag(C)**2))
        """,
        "",
    ),
    "VICReg var": (
        """
        z : real[n, d]
        s = sqrt(var(z, axis=0) + 1e-4)
        loss = mean(maximum(1 - s, 0))
        """,
        "z",
    ),
    "SVM hinge": (
        """
        w : real[d]; X : real[n, d]; y : real[n]
        loss = sum(w**2)/2 + mean(maximum(0, 1 - y*(X @ w)))
        """,
        "w",
    ),
    "quantile": (
        """
        q, y : real[n]
        d = y - q
        loss = mean(maximum(0.9*d, -0.1*d))
        """,
        "q",
    ),
    "MoE load": (
        """
        z : real[n, 4]
        p = softmax(z, axis=1)
        f = mean(one_hot(argmax(z, axis=1), 4), axis=0)
        loss = 4*sum(stop_gradient(f)*mean(p, axis=0))
        """,
        "",
    ),
    "gradient reversal": (
        """
        h, w : real
        g = stop_gradient(2*h) - h
        loss = (w*g)**2
        """,
        "h w",
    ),
    "elu": (
        """
        x : real
        y = where(x > 0, x, exp(minimum(x, 0)) - 1)
        """,
        "",
    ),
    "beta VAE KL free bits": (
        """
        mu, lv : real[n]
        kl = 0.5*(mu**2 + exp(lv) - lv - 1)
        loss = sum(maximum(kl, 0.5))
        """,
        "",
    ),
}
"""By name: a program whose last value is differentiated, and what it is differentiated by; by all if that is empty."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_warning(name: str) -> None:
    text, wrt = FUNCTIONS[name]
    found = sg.lint(sg.parse(text).last, wrt=wrt.split() or None)
    assert [str(f) for f in found if f.severity != "note"] == []
