"""Models of common style in torch: what the importer is tried on, and the benchmark times."""

# ruff: noqa: RET504  (the names of variables are what is read)

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class CNN(nn.Module):
    """Two convolutions with pooling, and a head, for small images."""

    def __init__(self, channels: int = 8, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, channels, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, 2 * channels, 3, stride=2)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(2 * channels * 9, classes)

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        h = self.pool(F.relu(self.norm1(self.conv1(images))))
        h = F.gelu(self.conv2(h))
        h = F.avg_pool2d(h, 2).flatten(1)
        scores = self.head(h)
        loss = F.cross_entropy(scores, labels)
        return loss


class LSTMCell(nn.Module):
    """An LSTM cell written out, run over a short sequence."""

    def __init__(self, inputs: int = 4, hidden: int = 6) -> None:
        super().__init__()
        self.hidden = hidden
        self.w_ih = nn.Parameter(torch.randn(4 * hidden, inputs) / math.sqrt(hidden))
        self.w_hh = nn.Parameter(torch.randn(4 * hidden, hidden) / math.sqrt(hidden))
        self.bias = nn.Parameter(torch.zeros(4 * hidden))

    def cell(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gates = x @ self.w_ih.T + h @ self.w_hh.T + self.bias
        i, f, g, o = gates.chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c

    def forward(self, xs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        h = xs.new_zeros(xs.shape[1], self.hidden)
        c = torch.zeros_like(h)
        for x in xs:
            h, c = self.cell(x, h, c)
        loss = F.mse_loss(h, target)
        return loss


class TransformerBlock(nn.Module):
    """A causal block: attention and a feed-forward layer, each behind a layer norm."""

    def __init__(self, width: int = 16, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(d, dim=-1)
        q, k, v = (e.view(b, t, self.heads, d // self.heads).transpose(1, 2) for e in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(b, t, d))
        x = x + self.mlp(self.ln2(x))
        loss = (x**2).mean()
        return loss


class VAE(nn.Module):
    """A variational autoencoder; its noise is an argument."""

    def __init__(self, pixels: int = 20, hidden: int = 12, latent: int = 3) -> None:
        super().__init__()
        self.enc = nn.Linear(pixels, hidden)
        self.mu, self.logvar = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, pixels))

    def forward(self, x: torch.Tensor, eps: torch.Tensor) -> dict[str, torch.Tensor]:
        h = torch.tanh(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * eps
        logits = self.dec(z)
        bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.shape[0]
        kld = -0.5 * torch.mean(torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1))
        return {"loss": bce + kld, "bce": bce, "kld": kld}


class PPO(nn.Module):
    """The clipped objective of proximal policy optimisation, with a value loss and an entropy bonus."""

    def __init__(self, observations: int = 5, actions: int = 3, width: int = 16) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, width), nn.Tanh())
        self.pi, self.v = nn.Linear(width, actions), nn.Linear(width, 1)
        self.clip, self.vf_coef, self.ent_coef = 0.2, 0.5, 0.01

    def forward(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        old_logp: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
    ) -> torch.Tensor:
        features = self.body(obs)
        logits = F.log_softmax(self.pi(features), dim=-1)
        logp = logits.gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            adv = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        ratio = torch.exp(logp - old_logp.detach())
        surrogate = torch.min(ratio * adv, torch.clamp(ratio, 1 - self.clip, 1 + self.clip) * adv)
        value_loss = F.huber_loss(self.v(features).squeeze(-1), returns)
        entropy = -(logits.exp() * logits).sum(-1).mean()
        loss = -surrogate.mean() + self.vf_coef * value_loss - self.ent_coef * entropy
        return loss


def models(dtype: torch.dtype = torch.float64, batch: int = 6) -> dict[str, tuple[nn.Module, list[Any]]]:
    """Return every model with arguments for a call."""
    torch.manual_seed(0)
    n = batch
    made: dict[str, tuple[nn.Module, list[Any]]] = {
        "CNN": (CNN(), [torch.randn(n, 1, 28, 28), torch.randint(10, (n,))]),
        "LSTM cell": (LSTMCell(), [torch.randn(5, n, 4), torch.randn(n, 6)]),
        "transformer block": (TransformerBlock(), [torch.randn(n, 7, 16)]),
        "VAE": (VAE(), [torch.rand(n, 20), torch.randn(n, 3)]),
        "PPO": (
            PPO(),
            [
                torch.randn(n, 5),
                torch.randint(3, (n,)),
                torch.randn(n) * 0.3 - 1,
                torch.randn(n),
                torch.randn(n),
            ],
        ),
    }
    return {
        name: (m.to(dtype), [a.to(dtype) if a.is_floating_point() else a for a in args])
        for name, (m, args) in made.items()
    }
