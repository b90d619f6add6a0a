import torch


@torch.compile
def kernel(x, y):
    return torch.exp(-(x**2) / 2) * torch.sin(3 * y) + torch.log1p(x**2 + y**2) * torch.tanh(x * y)


x, y = (torch.linspace(a, b, 1_000, dtype=torch.float64, requires_grad=True) for a, b in ((-3, 3), (3, -2)))
f = kernel(x, y)
f.sum().backward()
print((f.sum() + x.grad.sum() + y.grad.sum()).item())
