"""Derivatives of losses and likelihoods."""

from __future__ import annotations

from tests.pretty.closed_forms.row import Row

# Murphy, Probabilistic Machine Learning; Bishop, Pattern Recognition and Machine Learning; Barron (robust losses).
LOSSES = [
    Row(
        "mean squared error",
        "X : real[n, d]; w : real[d]; y : real[n]\nr = X@w - y\nloss = mean(r**2)",
        "w",
        "2*X.T@r/n",
    ),
    Row(
        "without a name for the residual",
        "X : real[n, d]; w : real[d]; y : real[n]\nloss = mean((X@w - y)**2)",
        "w",
        "2*X.T@(X@w - y)/n",
    ),
    Row(
        "mean absolute error",
        "X : real[n, d]; w : real[d]; y : real[n]\nr = X@w - y\nloss = mean(abs(r))",
        "w",
        "X.T@sign(r)/n",
    ),
    Row(
        "logistic regression, labels 0 and 1",
        (
            "X : real[n, d]; w : real[d]; y : real[n]\n"
            "p = sigmoid(X@w)\n"
            "loss = -mean(y*log(p) + (1 - y)*log(1 - p))"
        ),
        "w",
        "X.T@(p - y)/n",
    ),
    Row(
        "logistic regression, labels -1 and 1",
        "X : real[n, d]; w : real[d]; y : real[n]\nloss = sum(log(1 + exp(-y*(X@w))))",
        "w",
        "-X.T@(y*sigmoid(-y*(X@w)))",
    ),
    Row("one logistic term", "y, z : real\nloss = log(1 + exp(-y*z))", "z", "-y*sigmoid(-y*z)"),
    Row("by softplus", "z, y : real\nloss = softplus(z) - y*z", "z", "sigmoid(z) - y"),
    Row(
        "cross-entropy of a vector",
        "z, y : real[k]\np = softmax(z)\nloss = -sum(y*log(p))",
        "z",
        "p*sum(y) - y",
    ),
    Row(
        "cross-entropy by logsumexp",
        "z : real[k]; t : int\nloss = logsumexp(z) - z[t]",
        "z",
        "softmax(z) - scatter_add(1, t, shape=(k,))",
    ),
    Row("squared hinge", "y, z : real\nm = 1 - y*z\nloss = relu(m)**2/2", "z", "-y*relu(m)"),
    Row(
        "Poisson regression",
        "X : real[n, d]; w : real[d]; y : real[n]\nmu = exp(X@w)\nloss = sum(mu - y*(X@w))",
        "w",
        "X.T@(mu - y)",
    ),
    Row("Poisson, one term", "y : real; l : real\nloss = exp(l) - y*l", "l", "exp(l) - y"),
    Row(
        "a rate that cancels",
        "a, e, l : real\ny = e*(a*l) - e**2*(exp(-l)) - e*(a*l - e*exp(-l)) + a*e*l",
        "l",
        "a*e",
    ),
    Row(
        "pseudo-Huber",
        "r : real; delta : positive\nloss = delta**2*(sqrt(1 + (r/delta)**2) - 1)",
        "r",
        "r/sqrt(1 + (r/delta)**2)",
    ),
    Row("log-cosh", "r : real\nloss = log(cosh(r))", "r", "tanh(r)"),
    Row("Cauchy loss", "r : real; c : positive\nloss = c**2/2*log(1 + (r/c)**2)", "r", "r/(1 + (r/c)**2)"),
    Row("binary entropy", "p : real(0, 1)\nH = -p*log(p) - (1 - p)*log(1 - p)", "p", "log(1 - p) - log(p)"),
    Row("entropy", "p : positive[k]\nH = -sum(p*log(p))", "p", "-log(p) - 1"),
    Row("Kullback-Leibler divergence", "p, q : positive[k]\nD = sum(p*log(p/q))", "q", "-p/q"),
    Row("of normals by the mean", "mu, s : real\nkl = (mu**2 + exp(s) - s - 1)/2", "mu", "mu"),
    Row(
        "of normals by the log-variance",
        "mu, s : real\nkl = (mu**2 + exp(s) - s - 1)/2",
        "s",
        "(exp(s) - 1)/2",
    ),
    Row("triplet loss", "a, p, q : real[d]\ny = sum((a - p)**2) - sum((a - q)**2)", "a", "2*(q - p)"),
    Row("policy gradient", "theta, r : real\np = sigmoid(theta)\nJ = r*log(p)", "theta", "r*(1 - p)"),
    Row("KL of normals, named", "mu, s : real\nv = exp(s)\nkl = (mu**2 + v - s - 1)/2", "s", "(v - 1)/2"),
    Row("KL of vectors", "mu, s : real[d]\nkl = -sum(1 + s - mu**2 - exp(s))/2", "mu", "mu"),
    Row(
        "KL of vectors log-variance",
        "mu, s : real[d]\nkl = -sum(1 + s - mu**2 - exp(s))/2",
        "s",
        "(exp(s) - 1)/2",
    ),
    Row(
        "KL of normals by sigma",
        "m1, m2 : real; s1, s2 : positive\nkl = log(s2/s1) + (s1**2 + (m1 - m2)**2)/(2*s2**2) - 1/2",
        "s1",
        "s1/s2**2 - 1/s1",
    ),
    Row("softmax entropy", "z : real[k]\np = softmax(z)\nH = -sum(p*log(p))", "z", "-p*(H + log(p))"),
    Row("logsumexp", "z : real[k]\ny = logsumexp(z)", "z", "softmax(z)"),
    Row("logsumexp of two", "x, y : real\nl = log(exp(x) + exp(y))", "x", "exp(x)/(exp(x) + exp(y))"),
    Row("softmax expectation", "z, r : real[k]\np = softmax(z)\nJ = p@r", "z", "p*(r - J)"),
    Row("log softmax dot", "z, y : real[k]\nl = -sum(y*log_softmax(z))", "z", "softmax(z)*sum(y) - y"),
    Row("temperature", "z : real[k]; T : positive\ny = T*logsumexp(z/T)", "z", "softmax(z/T)"),
    Row(
        "focal-like",
        "z : real\np = sigmoid(z)\nl = -(1 - p)**2*log(p)",
        "p",
        "-(1 - p)*(1 - p*(1 + 2*log(p)))/p",
    ),
    Row(
        "binary cross-entropy from logits",
        "z, y : real\np = sigmoid(z)\nl = -y*log(p) - (1 - y)*log(1 - p)",
        "z",
        "p - y",
    ),
    Row("by logits stable", "z, y : real\nl = relu(z) - z*y + log1p(exp(-abs(z)))", "y", "-z"),
    Row("hinge", "y, z : real\nl = relu(1 - y*z)", "z", "where(1 - y*z > 0, -y, 0)"),
    Row(
        "hinge vector",
        "X : real[n, d]; w : real[d]; y : real[n]\nm = 1 - y*(X@w)\nl = sum(relu(m))",
        "w",
        "-X.T@where(m > 0, y, 0)",
    ),
    Row(
        "SVM",
        (
            "X : real[n, d]; w : real[d]; y : real[n]; C : positive\n"
            "m = 1 - y*(X@w)\n"
            "l = w@w/2 + C*sum(relu(m)**2)/2"
        ),
        "w",
        "w - C*X.T@(y*relu(m))",
    ),
    Row("exponential loss", "y, z : real\nl = exp(-y*z)", "z", "-l*y"),
    Row(
        "quantile",
        "r : real; q : real(0, 1)\nl = where(r > 0, q*r, (q - 1)*r)",
        "r",
        "where(r > 0, q, q - 1)",
    ),
    Row(
        "huber",
        "r : real; d : positive\nl = where(abs(r) <= d, r**2/2, d*(abs(r) - d/2))",
        "r",
        "clip(r, -d, d)",
    ),
    Row("Welsch", "r : real; c : positive\nl = c**2/2*(1 - exp(-(r/c)**2))", "r", "r*exp(-(r/c)**2)"),
    Row("Geman-McClure", "r : real\nl = r**2/(1 + r**2)/2", "r", "r/(1 + r**2)**2"),
    Row(
        "lasso",
        (
            "X : real[n, d]; w : real[d]; y : real[n]; lam : positive\n"
            "r = X@w - y\n"
            "l = sum(r**2)/(2*n) + lam*sum(abs(w))"
        ),
        "w",
        "X.T@r/n + lam*sign(w)",
    ),
    Row("elastic", "w : real[d]; a, b : positive\nl = a*sum(abs(w)) + b*sum(w**2)/2", "w", "b*w + a*sign(w)"),
]

# Scores: Bishop; Murphy; Rasmussen and Williams (5.9) for Gaussian processes.
LIKELIHOODS = [
    Row(
        "GP likelihood by targets",
        ("K : real[n, n] symmetric; y : real[n]\na = solve(K, y)\nL = -y@a/2 - logdet(K)/2 - n*log(2*pi)/2"),
        "y",
        "-a",
    ),
    Row(
        "GP likelihood by kernel",
        ("K : real[n, n] symmetric; y : real[n]\na = solve(K, y)\nL = -y@a/2 - logdet(K)/2 - n*log(2*pi)/2"),
        "K",
        "(outer(a, a) - inv(K))/2",
    ),
    Row(
        "Gaussian likelihood by mean",
        "x, mu : real[n]; S : real[n, n] symmetric\nd = x - mu\nL = -d@solve(S, d)/2 - logdet(S)/2",
        "mu",
        "solve(S, d)",
    ),
    Row(
        "Gaussian likelihood by covariance",
        "x, mu : real[n]; S : real[n, n] symmetric\nd = x - mu\nL = -d@solve(S, d)/2 - logdet(S)/2",
        "S",
        "(outer(solve(S, d), solve(S, d)) - inv(S))/2",
    ),
    Row(
        "Gaussian by precision",
        "x, mu : real[n]; L : real[n, n] symmetric\nd = x - mu\ny = logdet(L)/2 - d@L@d/2",
        "L",
        "(inv(L) - outer(d, d))/2",
    ),
    Row(
        "normal by mean",
        "x, mu : real; s : positive\nl = -(x - mu)**2/(2*s**2) - log(s)",
        "mu",
        "(x - mu)/s**2",
    ),
    Row(
        "normal by scale",
        "x, mu : real; s : positive\nl = -(x - mu)**2/(2*s**2) - log(s)",
        "s",
        "((x - mu)**2 - s**2)/s**3",
    ),
    Row(
        "normal by variance",
        "x, mu : real; v : positive\nl = -(x - mu)**2/(2*v) - log(v)/2",
        "v",
        "((x - mu)**2 - v)/(2*v**2)",
    ),
    Row(
        "many normals by variance",
        "x : real[n]; mu : real; v : positive\nl = -sum((x - mu)**2)/(2*v) - n*log(v)/2",
        "v",
        "(sum((x - mu)**2) - n*v)/(2*v**2)",
    ),
    Row("Bernoulli", "x, p : real(0, 1)\nl = x*log(p) + (1 - x)*log(1 - p)", "p", "(x - p)/(p*(1 - p))"),
    Row(
        "binomial",
        "k, n : positive; p : real(0, 1)\nl = k*log(p) + (n - k)*log(1 - p)",
        "p",
        "(k - n*p)/(p*(1 - p))",
    ),
    Row("Poisson", "k : positive; lam : positive\nl = k*log(lam) - lam", "lam", "k/lam - 1"),
    Row("exponential", "x, lam : positive\nl = log(lam) - lam*x", "lam", "1/lam - x"),
    Row(
        "gamma by rate", "x, a, b : positive\nl = a*log(b) - lgamma(a) + (a - 1)*log(x) - b*x", "b", "a/b - x"
    ),
    Row(
        "gamma by shape",
        "x, a, b : positive\nl = a*log(b) - lgamma(a) + (a - 1)*log(x) - b*x",
        "a",
        "log(b) - digamma(a) + log(x)",
    ),
    Row(
        "beta",
        (
            "x : real(0, 1); a, b : positive\n"
            "l = (a - 1)*log(x) + (b - 1)*log(1 - x) - lgamma(a) - lgamma(b) + lgamma(a + b)"
        ),
        "a",
        "digamma(a + b) - digamma(a) + log(x)",
    ),
    Row(
        "geometric",
        "k : positive; p : real(0, 1)\nl = (k - 1)*log(1 - p) + log(p)",
        "p",
        "(1 - k*p)/(p*(1 - p))",
    ),
    Row("Laplace", "x, mu : real; b : positive\nl = -abs(x - mu)/b - log(2*b)", "mu", "sign(x - mu)/b"),
    Row(
        "Laplace scale",
        "x, mu : real; b : positive\nl = -abs(x - mu)/b - log(2*b)",
        "b",
        "(abs(x - mu) - b)/b**2",
    ),
    Row(
        "Student", "x : real; nu : positive\nl = -(nu + 1)/2*log(1 + x**2/nu)", "x", "-x*(nu + 1)/(x**2 + nu)"
    ),
    Row(
        "Cauchy",
        "x, x0 : real; g : positive\nl = -log(pi*g*(1 + ((x - x0)/g)**2))",
        "x0",
        "2*(x - x0)/(g**2 + (x - x0)**2)",
    ),
    Row("logistic density", "x : real\nl = -x - 2*log(1 + exp(-x))", "x", "1 - 2*sigmoid(x)"),
    Row(
        "Weibull",
        "x, k, l : positive\ny = log(k/l) + (k - 1)*log(x/l) - (x/l)**k",
        "x",
        "(k - 1)/x - k*(x/l)**(k - 1)/l",
    ),
    Row("Pareto", "x, a, m : positive\ny = log(a) + a*log(m) - (a + 1)*log(x)", "a", "log(m) - log(x) + 1/a"),
    Row("von Mises", "x, mu : real; k : positive\ny = k*cos(x - mu)", "mu", "k*sin(x - mu)"),
    Row("Gumbel", "x : real\ny = -x - exp(-x)", "x", "exp(-x) - 1"),
]
