"""Right functions of the usual kinds, as torch has them: lint warns of none of them."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import symgrad as sg

R, B, M, T = "real[6]", "real[4, 8]", "real[5, 3]", "int[4]"


def ppo(logp, old, adv):
    ratio = torch.exp(logp - old.detach())
    return -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()


def vqvae(z, e, x):
    q = z + (e - z).detach()
    return F.mse_loss(q, x) + F.mse_loss(z.detach(), e) + 0.25 * F.mse_loss(z, e.detach())


def infonce(a, b):
    a = F.normalize(a, dim=1)
    b = F.normalize(b, dim=1)
    s = a @ b.T / 0.1
    return F.cross_entropy(s, torch.arange(4))


def supcon(z, mask):
    z = F.normalize(z, dim=1)
    s = z @ z.T / 0.1
    s = s - s.max(dim=1, keepdim=True).values.detach()
    lm = 1 - torch.eye(4)
    e = torch.exp(s) * lm
    lp = s - torch.log(e.sum(1, keepdim=True))
    return -((mask * lp).sum(1) / mask.sum(1)).mean()


def byol(p, z):
    return 2 - 2 * F.cosine_similarity(p, z.detach(), dim=-1).mean()


def simsiam(p1, p2, z1, z2):
    return -(F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2


def dino(s, t, c):
    p = F.softmax((t - c) / 0.04, dim=-1).detach()
    return -(p * F.log_softmax(s / 0.1, dim=-1)).sum(-1).mean()


def gumbel(logits, g, w):
    y = F.softmax((logits + g) / 0.5, dim=-1)
    h = F.one_hot(y.argmax(-1), 8).float()
    return (w * (h - y.detach() + y)).sum()


def a2c(logp, v, r, ent):
    adv = r - v
    return -(logp * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * ent.mean()


def dqn(q, qn, a, r, done):
    qa = q.gather(1, a[:, None]).squeeze(1)
    with torch.no_grad():
        t = r + 0.99 * (1 - done) * qn.max(1).values
    return F.smooth_l1_loss(qa, t)


def sac(mu, ls, eps, q):
    ls = torch.clamp(ls, -20, 2)
    u = mu + ls.exp() * eps
    logp = -0.5 * eps**2 - ls - 0.919 - 2 * (0.6931 - u - F.softplus(-2 * u))
    return (0.2 * logp - q).mean()


def reinforce(logp, r, b):
    return -(logp * (r - b).detach()).mean() + F.mse_loss(b, r)


def huber(p, t):
    return F.huber_loss(p, t)


def focal(z, t):
    ce = F.binary_cross_entropy_with_logits(z, t, reduction="none")
    p = torch.sigmoid(z)
    pt = p * t + (1 - p) * (1 - t)
    return (0.25 * (1 - pt) ** 2 * ce).mean()


def smooth(z, t):
    return F.cross_entropy(z, t, label_smoothing=0.1)


def lse(x):
    return torch.logsumexp(x, 0)


def contrastive(a, b, y):
    d = F.pairwise_distance(a, b)
    return (y * d**2 + (1 - y) * torch.clamp(1 - d, min=0) ** 2).mean()


def triplet(a, p, n):
    return F.triplet_margin_loss(a, p, n)


def ln(x, w, b):
    return F.layer_norm(x, (8,), w, b).pow(2).sum()


def l1(w, x, y):
    return F.mse_loss(x @ w, y) + 0.01 * w.abs().sum()


def gan_d(r, f):
    return F.binary_cross_entropy_with_logits(r, torch.ones(6)) + F.binary_cross_entropy_with_logits(
        f, torch.zeros(6)
    )


def gan_h(r, f):
    return F.relu(1 - r).mean() + F.relu(1 + f).mean()


def wgan(g, r, f):
    return f.mean() - r.mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()


def dsm(s, x, eps):
    return ((s + eps / 0.1) ** 2).mean()


def elbo(mu, lv, eps, x):
    z = mu + torch.exp(0.5 * lv) * eps
    return F.mse_loss(z, x, reduction="sum") - 0.5 * (1 + lv - mu**2 - lv.exp()).sum()


def mlp(x, w, v, y):
    return F.mse_loss(F.relu(F.relu(x @ w) @ w.T @ w) @ v, y)


def distill(s, t):
    return F.kl_div(F.log_softmax(s / 4, -1), F.softmax(t / 4, -1).detach(), reduction="batchmean")


def gnll(m, y, v):
    return F.gaussian_nll_loss(m, y, v)


FUNCTIONS = {
    ppo: (R, R, R),
    vqvae: (R, R, R),
    infonce: (B, B),
    supcon: (B, "nonnegative[4, 4]"),
    byol: (B, B),
    simsiam: (B, B, B, B),
    dino: (B, B, "real[8]"),
    gumbel: (B, B, B),
    a2c: (R, R, R, R),
    dqn: (B, B, T, "real[4]", "real[4]"),
    sac: (R, R, "Normal(0, 1)[6]", R),
    reinforce: (R, R, R),
    huber: (R, R),
    focal: (R, R),
    smooth: (B, T),
    lse: (R,),
    contrastive: (B, B, "real[4]"),
    triplet: (B, B, B),
    ln: (B, "real[8]", "real[8]"),
    l1: ("real[3]", M, "real[5]"),
    gan_d: (R, R),
    gan_h: (R, R),
    wgan: (B, "real[4]", "real[4]"),
    dsm: (R, R, "Normal(0, 1)[6]"),
    elbo: (R, R, "Normal(0, 1)[6]", R),
    mlp: ("real[5, 3]", "real[3, 4]", "real[4]", "real[5]"),
    distill: (B, B),
    gnll: (R, R, "positive[6]"),
}
"""By function: what its arguments are."""


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_warning(function):
    y = next(iter(sg.from_torch(function, *FUNCTIONS[function]).returned.values()))
    assert [str(f) for f in sg.lint(y) if f.severity != "note"] == []
    # Elsewhere the norm of zeros has a NaN gradient, and that is all.
    assert {f.code for f in sg.lint(y, framework="jax") if f.severity != "note"} <= {"SG301", "SG302"}
