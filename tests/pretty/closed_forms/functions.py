"""Derivatives of functions and laws of one name each."""

from __future__ import annotations

from tests.pretty.closed_forms.row import Row

# Tables of elementary derivatives; Ramachandran, Zoph and Le (swish).
ACTIVATIONS = [
    Row("sigmoid, named", "x : real\ns = sigmoid(x)", "x", "s*(1 - s)"),
    Row("tanh, named", "x : real\nh = tanh(x)", "x", "1 - h**2"),
    Row("exp, named", "x : real\ny = exp(x)", "x", "y"),
    Row("sqrt, named", "x : positive\ny = sqrt(x)", "x", "1/(2*y)"),
    Row("softplus", "x : real\ny = softplus(x)", "x", "sigmoid(x)"),
    Row("softplus spelled out", "x : real\ny = log(1 + exp(x))", "x", "sigmoid(x)"),
    Row("swish", "x : real\ns = sigmoid(x)\ny = x*s", "x", "s + y*(1 - s)"),
    Row("relu", "x : real\ny = relu(x)", "x", "where(x > 0, 1, 0)"),
    Row("gaussian", "x : real\ny = exp(-x**2/2)", "x", "-x*y"),
    Row("arctangent", "x : real\ny = atan(x)", "x", "1/(x**2 + 1)"),
    Row("logit", "p : real(0, 1)\ny = log(p/(1 - p))", "p", "1/(p*(1 - p))"),
    Row("logarithm of a sigmoid", "x : real\ny = log(sigmoid(x))", "x", "sigmoid(-x)"),
    Row("a square of a choice", "c, x : real\ny = where(c > 0, 1, 0)**2*x", "x", "where(c > 0, 1, 0)"),
]

# Laws of physics, chemistry and statistics, by the names under which they are known.
SCIENCES = [
    Row("quotient", "x : positive\ny = log(x)/x", "x", "(1 - x*y)/x**2"),
    Row("power", "x : positive; a : real\ny = x**a", "x", "a*x**(a - 1)"),
    Row("general exponential", "x : real; a : positive\ny = a**x", "x", "y*log(a)"),
    Row("x to the x", "x : positive\ny = x**x", "x", "y*(1 + log(x))"),
    Row(
        "elu", "x : real; a : positive\ny = where(x > 0, x, a*(exp(x) - 1))", "x", "where(x > 0, 1, a*exp(x))"
    ),
    Row("softsign", "x : real\ny = x/(1 + abs(x))", "x", "1/(1 + abs(x))**2"),
    Row(
        "gelu",
        "x : real\ny = x*erf(x/sqrt(2))/2 + x/2",
        "x",
        "(sqrt(2)*x*exp(-x**2/2)/sqrt(pi) + erf(x/sqrt(2)) + 1)/2",
    ),
    Row("mish", "x : real\nt = tanh(softplus(x))\ny = x*t", "x", "t + x*sigmoid(x)*(1 - t**2)"),
    Row("arcsine", "x : real(-1, 1)\ny = asin(x)", "x", "1/sqrt(1 - x**2)"),
    Row("artanh", "x : real(-1, 1)\ny = atanh(x)", "x", "1/(1 - x**2)"),
    Row("arsinh", "x : real\ny = asinh(x)", "x", "1/hypot(1, x)"),
    Row("tangent, named", "x : real(-1, 1)\nt = tan(x)", "x", "t**2 + 1"),
    Row("secant-like", "x : real\ny = 1/cosh(x)", "x", "-y*tanh(x)"),
    Row("Gaussian integral", "x : real\ny = erf(x)", "x", "2*exp(-x**2)/sqrt(pi)"),
    Row("hyperbola", "x, y : positive\nr = sqrt(x**2 + y**2)", "x", "x/r"),
    Row("angle", "x, y : positive\nt = atan(y/x)", "x", "-y/(x**2 + y**2)"),
    Row("lens", "f, g : positive\nh = f*g/(f + g)", "f", "(g - h)/(f + g)"),
    Row("parallel resistors", "a, b : positive\nR = 1/(1/a + 1/b)", "a", "b**2/(a + b)**2"),
    Row("Michaelis-Menten", "V, K, S : positive\nv = V*S/(K + S)", "S", "(V - v)/(K + S)"),
    Row("logistic growth", "N, r, K : positive\ng = r*N*(1 - N/K)", "N", "r*(1 - 2*N/K)"),
    Row(
        "van der Waals",
        "V, T, R, a, b : positive\np = R*T/(V - b) - a/V**2",
        "V",
        "2*a/V**3 - R*T/(V - b)**2",
    ),
    Row(
        "Peng-Robinson's logarithm",
        "Z, B : positive\ny = log((Z + (1 + sqrt(2))*B)/(Z + (1 - sqrt(2))*B))",
        "Z",
        "-2*sqrt(2)*B/(2*B*Z - B**2 + Z**2)",
    ),
    Row(
        "Lennard-Jones",
        "r, s, e : positive\nU = 4*e*((s/r)**12 - (s/r)**6)",
        "r",
        "24*e*(s**6/r**7 - 2*s**12/r**13)",
    ),
    Row("Morse", "r, a, r0, D : positive\nx = exp(-a*(r - r0))\nU = D*(1 - x)**2", "r", "2*D*a*x*(1 - x)"),
    Row("Coulomb", "r, k : positive\nU = k/r", "r", "-U/r"),
    Row("Gravity vector", "x : real[3]; k : positive\nr = norm(x)\nU = -k/r", "x", "k*x/r**3"),
    Row("pendulum", "t : real; m, g, l : positive\nU = m*g*l*(1 - cos(t))", "t", "m*g*l*sin(t)"),
    Row("Arrhenius", "T, A, E, R : positive\nk = A*exp(-E/(R*T))", "T", "E*k/(R*T**2)"),
    Row("Black body peak", "x : positive\ny = x**3/(exp(x) - 1)", "x", "y*(3/x - exp(x)/(exp(x) - 1))"),
    Row(
        "Arrhenius, modified",
        "T, T0, A, n, Ea, R : positive\nk = A*(T/T0)**n*exp(-Ea/(R*T))",
        "T",
        "k*(n/T + Ea/(R*T**2))",
    ),
    Row("Fermi", "x : real\nf = 1/(exp(x) + 1)", "x", "-f*(1 - f)"),
    Row("Bose", "x : positive\nf = 1/(exp(x) - 1)", "x", "-f*exp(x)/(exp(x) - 1)"),
    Row("Boltzmann mean", "b : positive; E : real[k]\nZ = sum(exp(-b*E))\nF = -log(Z)/b", "E", "exp(-b*E)/Z"),
    Row("partition", "b : real; E : real[k]\nl = logsumexp(-b*E)", "b", "-(E@softmax(-b*E))"),
    Row("Lorentz factor", "b : real(-1, 1)\ng = 1/sqrt(1 - b**2)", "b", "b*g/(1 - b**2)"),
    Row("Black-Scholes vega-like", "S, K, s, T : positive\nd = log(S/K)/(s*sqrt(T))", "s", "-d/s"),
    Row(
        "entropy of a histogram",
        "w : positive[k]\nZ = sum(w)\np = w/Z\nH = -sum(p*log(p))",
        "w",
        "-(H + log(p))/Z",
    ),
    Row("Gini", "p : real[k]\nG = 1 - sum(p**2)", "p", "-2*p"),
    Row(
        "total variation",
        "x : real[n]; lam : positive\ny = lam*sum(sqrt(x**2 + 1))",
        "x",
        "lam*x/sqrt(x**2 + 1)",
    ),
    Row("geometric mean", "x : positive[n]\ng = exp(mean(log(x)))", "x", "g/(n*x)"),
    Row("harmonic mean", "x : positive[n]\nh = n/sum(1/x)", "x", "h/(x**2*sum(1/x))"),
    Row(
        "p-norm",
        "x : positive[n]; p : positive\ny = sum(x**p)**(1/p)",
        "x",
        "x**(p - 1)*sum(x**p)**(1/p - 1)",
    ),
    Row("variance", "x : real[n]\nm = mean(x)\nv = mean((x - m)**2)", "x", "2*(x - m)/n"),
    Row(
        "standard deviation",
        "x : real[n]\nm = mean(x)\nv = mean((x - m)**2)\ns = sqrt(v)",
        "x",
        "(x - m)/(n*s)",
    ),
    Row(
        "correlation numerator",
        "x, y : real[n]\nmx = mean(x)\nmy = mean(y)\nc = mean((x - mx)*(y - my))",
        "x",
        "(y - my)/n",
    ),
    Row("Newton step objective", "x : real; a : positive\nf = x**3/3 - a*x", "x", "x**2 - a"),
    Row("probit", "x, b : real\np = (1 + erf(x*b/sqrt(2)))/2", "b", "x*exp(-b**2*x**2/2)/sqrt(2*pi)"),
    Row("cloglog", "z : real\np = 1 - exp(-exp(z))", "z", "exp(z - exp(z))"),
    Row("square of a sigmoid", "x : real\ns = sigmoid(x)\ny = s**2", "x", "2*y*(1 - s)"),
    Row("a difference that is nothing", "x, a, b : real\nu = x*(a + b)\ny = (u - a*x - b*x)*x", "x", "0"),
    Row(
        "a cubic that opens and cancels",
        "x, y : real\ns = x + y\nz = s**3 - x**3 - y**3 - 3*x*y*s + x*y",
        "x",
        "y",
    ),
]
