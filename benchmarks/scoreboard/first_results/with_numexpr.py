import numexpr as ne
import numpy as np

x, y = np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)
values = (
    ne.evaluate("exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)"),
    ne.evaluate(
        "-x*exp(-x**2/2)*sin(3*y) + 2*x/(1 + x**2 + y**2)*tanh(x*y) + (1 - tanh(x*y)**2)*log1p(x**2 + y**2)*y"
    ),
    ne.evaluate(
        "3*exp(-x**2/2)*cos(3*y) + 2*y/(1 + x**2 + y**2)*tanh(x*y) + (1 - tanh(x*y)**2)*log1p(x**2 + y**2)*x"
    ),
)
print(sum(v.sum() for v in values))
