"""Derivatives of estimators and networks."""

from __future__ import annotations

from tests.pretty.closed_forms.row import Row

# Kalman's gain (Joseph form), Gaussian Markov fields, factor models, kernels, portfolios.
ESTIMATION = [
    Row(
        "portfolio",
        "S : real[n, n] symmetric; w, mu : real[n]; g : positive\nU = w@mu - g/2*(w@S@w)",
        "w",
        "mu - g*S@w",
    ),
    Row("volatility", "S : real[n, n] symmetric; w : real[n]\ns = sqrt(w@S@w)", "w", "S@w/s"),
    Row(
        "Kalman gain: trace of posterior",
        (
            "P : real[n, n] symmetric; H : real[m, n]; R : real[m, m] symmetric; K : real[n, m]\n"
            "M = eye(n) - K@H\n"
            "J = trace(M@P@M.T + K@R@K.T)"
        ),
        "K",
        "2*(K@R - M@P@H.T)",
    ),
    Row(
        "Kalman innovation likelihood",
        "z, h : real[m]; S : real[m, m] symmetric\nv = z - h\nL = -v@solve(S, v)/2 - logdet(S)/2",
        "h",
        "solve(S, v)",
    ),
    Row(
        "MAP with a prior",
        (
            "x, m : real[n]; P : real[n, n] symmetric; y : real[k]\n"
            "H : real[k, n]; R : real[k, k] symmetric\n"
            "J = (x - m)@inv(P)@(x - m)/2 + (y - H@x)@inv(R)@(y - H@x)/2"
        ),
        "x",
        "H.T@(inv(R)@(H@x - y)) + inv(P)@(x - m)",
    ),
    Row(
        "least squares matrix",
        "X : real[n, d]; W : real[d, k]; Y : real[n, k]\nE = X@W - Y\nL = sum(E**2)/(2*n)",
        "W",
        "X.T@E/n",
    ),
    Row(
        "weight decay",
        (
            "X : real[n, d]; W : real[d, k]; Y : real[n, k]; lam : positive\n"
            "E = X@W - Y\n"
            "L = sum(E**2)/(2*n) + lam/2*sum(W**2)"
        ),
        "W",
        "X.T@E/n + lam*W",
    ),
    Row(
        "matrix factorisation",
        (
            "U : real[n, r]; V : real[m, r]; Y : real[n, m]; M : real[n, m]\n"
            "E = M*(U@V.T - Y)\n"
            "L = sum(E**2)/2"
        ),
        "U",
        "(E*M)@V",
    ),
    Row(
        "matrix factorisation plain",
        ("U : real[n, r]; V : real[m, r]; Y : real[n, m]\nE = U@V.T - Y\nL = sum(E**2)/2 + sum(U**2)/2"),
        "V",
        "E.T@U",
    ),
    Row(
        "autoencoder tied",
        "X : real[n, d]; W : real[d, k]\nL = sum((X@W@W.T - X)**2)/2",
        "W",
        "((X@W@W.T - X).T@X + X.T@(X@W@W.T - X))@W",
    ),
    Row("PCA objective", "S : real[d, d] symmetric; W : real[d, k]\nJ = trace(W.T@S@W)", "W", "2*S@W"),
    Row(
        "whitening",
        "W : real[d, d]; S : real[d, d] symmetric\nC = W@S@W.T\nJ = sum((C - eye(d))**2)/4",
        "W",
        "(C - eye(d))@W@S",
    ),
    Row("ICA", "W : real[d, d]; X : real[n, d]\nJ = logdet(W)", "W", "inv(W).T"),
    Row(
        "precision matrix (graphical lasso)",
        "T : real[n, n] symmetric; S : real[n, n] symmetric\nl = logdet(T) - trace(S@T)",
        "T",
        "inv(T) - S",
    ),
    Row(
        "Wishart",
        "X : real[p, p] symmetric; V : real[p, p] symmetric\nl = logdet(X)/2 - trace(inv(V)@X)/2",
        "X",
        "(inv(X) - inv(V))/2",
    ),
    Row(
        "MMD kernel",
        "x, y : real[d]; s : positive\nk = exp(-sum((x - y)**2)/(2*s**2))",
        "x",
        "k*(y - x)/s**2",
    ),
    Row(
        "RBF length scale",
        "x, y : real[d]; s : positive\nk = exp(-sum((x - y)**2)/(2*s**2))",
        "s",
        "k*sum((x - y)**2)/s**3",
    ),
    Row(
        "TD error",
        "w, x, y : real[d]; r, g : real\ndelta = r + g*(w@y) - w@x\nL = delta**2/2",
        "w",
        "delta*(g*y - x)",
    ),
    Row(
        "REINFORCE softmax",
        "th : real[k]; R : real; i : int\npi_ = softmax(th)\nJ = R*log(pi_[i])",
        "th",
        "R*(scatter_add(1, i, shape=(k,)) - pi_)",
    ),
    Row(
        "Sharpe",
        "w, mu : real[n]; S : real[n, n] symmetric\ns = sqrt(w@S@w)\nq = w@mu/s",
        "w",
        "(s*mu - q*S@w)/s**2",
    ),
    Row("ELBO of a Gaussian", "x, m : real[d]; v : positive\nl = -sum((x - m)**2)/(2*v)", "m", "(x - m)/v"),
    Row(
        "factor analysis",
        (
            "W : real[d, k]; S : real[d, d] symmetric; psi : positive\n"
            "C = W@W.T + psi*eye(d)\n"
            "L = -logdet(C)/2 - trace(inv(C)@S)/2"
        ),
        "W",
        "(inv(C)@S@inv(C) - inv(C))@W",
    ),
    Row(
        "precision quadratic",
        "x : real[n]; Q : real[n, n] symmetric; h : real[n]\nl = -x@Q@x/2 + h@x",
        "x",
        "h - Q@x",
    ),
]

# Goodfellow, Bengio and Courville; Ioffe and Szegedy (batch norm); Vaswani et al. (attention); Mikolov et al.
NETWORKS = [
    Row(
        "bias",
        ("X : real[n, d]; W : real[d, k]; b : real[k]; Y : real[n, k]\nE = X@W + b - Y\nL = sum(E**2)/(2*n)"),
        "b",
        "mean(E, axis=0)",
    ),
    Row(
        "attention by values",
        (
            "Q : real[n, d]; K : real[m, d]; V : real[m, e]; G : real[n, e]\n"
            "P = softmax(Q@K.T/sqrt(d), axis=1)\n"
            "O = P@V\n"
            "L = sum(G*O)"
        ),
        "V",
        "P.T@G",
    ),
    Row(
        "attention by queries",
        (
            "Q : real[n, d]; K : real[m, d]; V : real[m, e]; G : real[n, e]\n"
            "S = Q@K.T/sqrt(d)\n"
            "P = softmax(S, axis=1)\n"
            "O = P@V\n"
            "L = sum(G*O)"
        ),
        "Q",
        "(P*(G@V.T - sum(P*(G@V.T), axis=1, keepdims=True)))@K/sqrt(d)",
    ),
    Row(
        "layer norm",
        (
            "x, g : real[d]; eps : positive\n"
            "mu = mean(x)\n"
            "v = mean((x - mu)**2)\n"
            "s = sqrt(v + eps)\n"
            "xh = (x - mu)/s\n"
            "L = g@xh"
        ),
        "x",
        "(d*(g - mean(g)) - L*xh)/(d*s)",
    ),
    Row(
        "batch norm",
        (
            "X, G : real[n, d]; eps : positive\n"
            "mu = mean(X, axis=0)\n"
            "v = mean((X - mu)**2, axis=0)\n"
            "s = sqrt(v + eps)\n"
            "Xh = (X - mu)/s\n"
            "L = sum(G*Xh)"
        ),
        "X",
        "(G - Xh*mean(G*Xh, axis=0) - mean(G, axis=0))/s",
    ),
    Row(
        "batch norm gamma",
        "X, G : real[n, d]; g, b : real[d]\nY = g*X + b\nL = sum(G*Y)",
        "g",
        "sum(G*X, axis=0)",
    ),
    Row(
        "batch norm beta",
        "X, G : real[n, d]; g, b : real[d]\nY = g*X + b\nL = sum(G*Y)",
        "b",
        "sum(G, axis=0)",
    ),
    Row(
        "rms norm",
        "x, g : real[d]; eps : positive\nr = sqrt(mean(x**2) + eps)\ny = x/r\nL = g@y",
        "x",
        "(g - L*y/d)/r",
    ),
    Row("normalised vector", "x, g : real[d]\ns = norm(x)\nL = g@x/s", "x", "(g - L*x/s)/s"),
    Row(
        "logistic Hessian",
        (
            "X : real[n, d]; w : real[d]; y, v : real[n]; u : real[d]\n"
            "p = sigmoid(X@w)\n"
            "g = X.T@(p - y)\n"
            "q = g@u"
        ),
        "w",
        "X.T@(X@u*p*(1 - p))",
    ),
    Row("softmax Hessian times", "z, v : real[k]\np = softmax(z)\nq = p@v", "z", "p*(v - q)"),
    Row(
        "softmax regression",
        ("X : real[n, d]; W : real[d, k]; Y : real[n, k]\nP = softmax(X@W, axis=1)\nL = -sum(Y*log(P))/n"),
        "W",
        "X.T@(P*sum(Y, axis=1, keepdims=True) - Y)/n",
    ),
    Row(
        "two layers outer",
        (
            "X : real[n, d]; W : real[d, h]; V : real[h, k]; Y : real[n, k]\n"
            "H = tanh(X@W)\n"
            "E = H@V - Y\n"
            "L = sum(E**2)/2"
        ),
        "V",
        "H.T@E",
    ),
    Row(
        "two layers inner",
        (
            "X : real[n, d]; W : real[d, h]; V : real[h, k]; Y : real[n, k]\n"
            "H = tanh(X@W)\n"
            "E = H@V - Y\n"
            "L = sum(E**2)/2"
        ),
        "W",
        "X.T@(E@V.T*(1 - H**2))",
    ),
    Row(
        "relu layer",
        (
            "X : real[n, d]; W : real[d, h]; V : real[h, k]; Y : real[n, k]\n"
            "Z = X@W\n"
            "H = relu(Z)\n"
            "E = H@V - Y\n"
            "L = sum(E**2)/2"
        ),
        "W",
        "X.T@where(Z > 0, E@V.T, 0)",
    ),
    Row(
        "RBM free energy",
        "v : real[n]; W : real[n, h]; b : real[n]; c : real[h]\nF = -b@v - sum(softplus(c + v@W))",
        "v",
        "-b - W@sigmoid(c + v@W)",
    ),
    Row(
        "InfoNCE-like",
        "u : real[d]; K : real[m, d]; c : int; T : positive\nz = K@u/T\nL = logsumexp(z) - z[c]",
        "u",
        "K.T@(softmax(z) - scatter_add(1, c, shape=(m,)))/T",
    ),
    Row("skip-gram", "u, v : real[d]\nL = -log(sigmoid(u@v))", "u", "-(1 - sigmoid(u@v))*v"),
    Row("negative sample", "u, v : real[d]\nL = -log(sigmoid(-(u@v)))", "u", "sigmoid(u@v)*v"),
    Row(
        "log-loss with one-hot",
        "z : real[k]; Y : real[k]\nt = argmax(Y)\nl = logsumexp(z) - z[t]",
        "z",
        "softmax(z) - one_hot(t, k)",
    ),
    Row(
        "batch cross-entropy",
        ("Z, Y : real[n, k]\nt = argmax(Y, axis=1)\nP = softmax(Z, axis=1)\nl = -mean(log(P[arange(n), t]))"),
        "Z",
        "(P - one_hot(t, k))/n",
    ),
    Row(
        "linear softmax classifier",
        (
            "X : real[n, d]; W : real[d, k]; Y : real[n, k]\n"
            "t = argmax(Y, axis=1)\n"
            "P = softmax(X@W, axis=1)\n"
            "l = -mean(log(P[arange(n), t]))"
        ),
        "W",
        "X.T@(P - one_hot(t, k))/n",
    ),
    Row("unit vector", "x : real[n]\ny = x[0]", "x", "one_hot(0, n)"),
    Row("last entry squared", "x : real[5]\ny = x[-1]**2", "x", "2*one_hot(4, 5)*x[4]"),
    Row(
        "embedding",
        "E : real[v, d]; g : real[d]; t : int\ny = E[t]@g",
        "E",
        "scatter_add(g, t, shape=(v, d))",
    ),
    Row("max margin", "x, y : real[d]; m : real\nl = relu(m - x@y)", "x", "where(m - x@y > 0, -y, 0)"),
    Row("center loss", "X : real[n, d]; c : real[d]\nL = sum((X - c)**2)/2", "c", "sum(c - X, axis=0)"),
    Row("k-means", "X : real[n, d]; c : real[d]\nL = sum((X - c)**2)/n", "c", "2*mean(c - X, axis=0)"),
    Row(
        "z-score",
        "x : real[n]; g : real[n]\nm = mean(x)\ns = sqrt(mean((x - m)**2) + 1)\nz = (x - m)/s\nL = g@z",
        "x",
        "(n*(g - mean(g)) - L*z)/(n*s)",
    ),
    Row("Bradley-Terry", "a, b : real\np = sigmoid(a - b)\nl = log(p)", "a", "1 - p"),
    Row("DPO", "a, b, beta : real\nl = -log(sigmoid(beta*(a - b)))", "a", "-beta*sigmoid(beta*(b - a))"),
    Row("PPO ratio", "lp, l0, A : real\nr = exp(lp - l0)\nJ = r*A", "lp", "J"),
    Row("VAE reparametrised", "mu, s, e, g : real\nz = mu + exp(s/2)*e\nL = g*z", "s", "e*g*exp(s/2)/2"),
    Row(
        "contrastive logit",
        "u, v : real[d]; T : positive\ns = u@v/T\nl = softplus(-s)",
        "u",
        "-sigmoid(-s)*v/T",
    ),
]
