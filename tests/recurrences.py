"""Recurrences from textbooks, as programs; each ends with a number y."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symgrad.ir.body import Body, divide
from symgrad.ir.graph import Node
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.traverse import fold, with_args
from symgrad.ops.array.layout import concatenate, expand
from symgrad.ops.numpy.subscripts import index

__all__ = ["RECURRENCES", "unrolled"]

RECURRENCES: Mapping[str, str] = {
    "recurrent network": """
        x : real[T, m]; W : real[n, n]; U : real[n, m]; b, h0 : real[n]
        h[0] = h0
        h[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T
        y = sum(h[T]**2) + sum(h[1:])""",
    "LSTM": """
        x : real[T, m]; Wi, Wf, Wo, Wg : real[n, n]; U : real[n, m]; h0, c0 : real[n]
        h[0] = h0; c[0] = c0
        v = U@x[t-1]; c[t] = sigmoid(Wf@h[t-1] + v)*c[t-1] + sigmoid(Wi@h[t-1] + v)*tanh(Wg@h[t-1] + v); \\
            h[t] = sigmoid(Wo@h[t-1] + v)*tanh(c[t]) for t in 1..T
        y = sum(h[T]**2)""",
    "GRU": """
        x : real[T, n]; Wz, Wr, Wh : real[n, n]
        h[0] = zeros(n)
        z = sigmoid(Wz@h[t-1] + x[t-1]); r = sigmoid(Wr@h[t-1] - x[t-1]); \\
            h[t] = (1 - z)*h[t-1] + z*tanh(Wh@(r*h[t-1]) + x[t-1]) for t in 1..T
        y = sum(h[T]*h[1])""",
    "exponential smoothing": """
        x : real[T]; a : real(0, 1)
        s[0] = x[0]
        s[t] = a*x[t] + (1 - a)*s[t-1] for t in 1..T - 1
        y = sum((s[:T - 1] - x[1:])**2)""",
    "autoregression": """
        e : real[T]; a, b : real
        x[0] = 1; x[1] = a
        x[t] = a*x[t-1] + b*x[t-2] + e[t-2] for t in 2..T + 1
        y = sum(x**2)""",
    "GARCH": """
        r : real[T]; w, a, b : positive
        v[0] = w
        v[t] = w + a*r[t-1]**2 + b*v[t-1] for t in 1..T
        y = sum(log(v[:T]) + r**2/v[:T])""",
    "Newton's iteration": """
        a : positive
        z[0] = a
        z[k] = z[k-1] - (z[k-1]**2 - a)/(2*z[k-1]) for k in 1..6
        y = z[6]""",
    "Runge and Kutta": """
        k, m, y0 : positive
        q[0] = y0; v[0] = 0
        a1 = -k/m*q[t-1]; v2 = v[t-1] + a1/20; a2 = -k/m*(q[t-1] + v[t-1]/20); v3 = v[t-1] + a2/20; \\
            a3 = -k/m*(q[t-1] + v2/20); v4 = v[t-1] + a3/10; a4 = -k/m*(q[t-1] + v3/10); \\
            q[t] = q[t-1] + (v[t-1] + 2*v2 + 2*v3 + v4)/60; v[t] = v[t-1] + (a1 + 2*a2 + 2*a3 + a4)/60 for t in 1..5
        y = q[5]**2 + v[5]""",
    "leapfrog": """
        w : real
        q[0] = 1; p[0] = 0
        h = p[t-1] - 0.05*w**2*q[t-1]; q[t] = q[t-1] + 0.1*h; p[t] = h - 0.05*w**2*q[t] for t in 1..7
        y = q[7]*p[7]""",
    "Euler and Maruyama": """
        mu, sigma : real; u : real[T]
        s[0] = 1
        s[t] = s[t-1] + mu*s[t-1]/100 + sigma*s[t-1]*u[t-1]/10 for t in 1..T
        y = maximum(s[T] - 1, 0)**2 + s[T]""",
    "Horner's scheme": """
        c : real[n]; z : real
        b[n] = 0
        b[k-1] = c[k-1] + z*b[k] for k in n..1
        y = b[0]""",
    "Clenshaw's scheme": """
        c : real[n]; z : real
        b[n] = 0; b[n + 1] = 0
        b[k-1] = c[k-1] + 2*z*b[k] - b[k+1] for k in n..1
        y = b[0] - z*b[1]""",
    "continued fraction": """
        a : positive[n]
        f[n] = 1
        f[k-1] = 1 + a[k-1]/f[k] for k in n..1
        y = f[0]""",
    "discounted return": """
        r : real[T]; g : real(0, 1)
        G[T] = 0
        G[t-1] = r[t-1] + g*G[t] for t in T..1
        y = sum(G[:T]**2)""",
    "advantage": """
        r : real[2]; V : real[3]; g, lam : real(0, 1)
        A[2] = 0
        A[t-1] = r[t-1] + g*V[t] - V[t-1] + g*lam*A[t] for t in 2..1
        y = sum(A[:2]**2)""",
    "temporal differences": """
        r : real[T]; g, lam, a : real(0, 1)
        v[0] = 0; e[0] = 1
        d = r[t-1] + g*v[t-1] - v[t-1]; e[t] = g*lam*e[t-1] + 1; v[t] = v[t-1] + a*d*e[t] for t in 1..T
        y = v[T]""",
    "Kalman filter": """
        z : real[T, k]; A : real[n, n]; H : real[k, n]
        m[0] = zeros(n); P[0] = eye(n)
        Q = A@P[t-1]@A.T + eye(n); S = H@Q@H.T + eye(k); K = Q@H.T@inv(S); v = z[t-1] - H@A@m[t-1]; \\
            m[t] = A@m[t-1] + K@v; P[t] = Q - K@S@K.T for t in 1..T
        y = sum(m[T]**2) + trace(P[T])""",
    "likelihood of a Kalman filter": """
        z : real[T]; a, q : positive
        m[0] = 0; P[0] = 1; L[0] = 0
        S = a**2*P[t-1] + q + 1; v = z[t-1] - a*m[t-1]; m[t] = a*m[t-1] + (a**2*P[t-1] + q)/S*v; \\
            P[t] = (a**2*P[t-1] + q)/S; L[t] = L[t-1] - (log(S) + v**2/S)/2 for t in 1..T
        y = L[T]""",
    "smoother": """
        z : real[T]; a : real; q, r : positive
        m[0] = 0; P[0] = 1
        M = a*m[t-1]; Q = a**2*P[t-1] + q; m[t] = M + Q/(Q + r)*(z[t-1] - M); P[t] = Q*r/(Q + r) for t in 1..T
        s[T] = m[T]
        s[t-1] = m[t-1] + P[t-1]*a/(a**2*P[t-1] + q)*(s[t] - a*m[t-1]) for t in T..1
        y = sum((s[t] - z[t-1])**2, t=1..T)""",
    "hidden Markov model": """
        A : positive[n, n]; E : positive[T, n]
        f[0] = ones(n)/n; L[0] = 0
        g = (A.T@f[t-1])*E[t-1]; f[t] = g/sum(g); L[t] = L[t-1] + log(sum(g)) for t in 1..T
        y = L[T]""",
    "logistic map": "a : real\nx[0] = 0.3\nx[t] = a*x[t-1]*(1 - x[t-1]) for t in 1..8\ny = x[8]",
    "epidemic": """
        beta, gamma : positive
        S[0] = 0.99; I[0] = 0.01
        n = beta*S[t-1]*I[t-1]; S[t] = S[t-1] - n/10; I[t] = I[t-1] + (n - gamma*I[t-1])/10 for t in 1..6
        y = I[6]""",
    "gradient descent with momentum": """
        A : real[n, n]; b : real[n]; a, m : real(0, 1)
        w[0] = zeros(n); v[0] = zeros(n)
        v[t] = m*v[t-1] - a*(A.T@(A@w[t-1] - b)); w[t] = w[t-1] + v[t] for t in 1..4
        y = sum((A@w[4] - b)**2)""",
    "Adam": """
        a, target : real
        w[0] = 1; m[0] = 0; v[0] = 0
        g = 2*(w[t-1] - target); m[t] = 0.9*m[t-1] + 0.1*g; v[t] = 0.99*v[t-1] + 0.01*g**2; \\
            w[t] = w[t-1] - a*(m[t]/(1 - 0.9**t))/(sqrt(v[t]/(1 - 0.99**t)) + 1e-8) for t in 1..4
        y = w[4]**2""",
    "conjugate gradients": """
        M : real[n, n]; b : real[n]
        A = M@M.T + eye(n)
        x[0] = zeros(n); r[0] = b; p[0] = b
        q = A@p[t-1]; a = (r[t-1]@r[t-1])/(p[t-1]@q); x[t] = x[t-1] + a*p[t-1]; r[t] = r[t-1] - a*q; \\
            p[t] = r[t] + (r[t]@r[t])/(r[t-1]@r[t-1])*p[t-1] for t in 1..2
        y = x[2]@b""",
    "Leslie matrix": """
        F : positive[n]; L : positive[n, n]
        x[0] = F
        x[t] = L@x[t-1]/sum(x[t-1]) for t in 1..5
        y = sum(x[5]**2)""",
    "controller": """
        Kp, Ki, Kd : real; target : real[T]
        u[0] = 0; s[0] = 0; e[0] = 0
        e[t] = target[t-1] - u[t-1]; s[t] = s[t-1] + e[t]; \\
            u[t] = u[t-1] + (Kp*e[t] + Ki*s[t] + Kd*(e[t] - e[t-1]))/10 for t in 1..T
        y = sum((target - u[1:])**2)""",
    "running variance": """
        x : real[T]
        m[0] = 0; M[0] = 0
        d = x[t-1] - m[t-1]; m[t] = m[t-1] + d/t; M[t] = M[t-1] + d*(x[t-1] - m[t]) for t in 1..T
        y = M[T]/T""",
    "rating": """
        K : positive; score : real[T]
        r[0] = 1.5
        r[t] = r[t-1] + K*(score[t-1] - sigmoid(r[t-1] - 1)) for t in 1..T
        y = r[T]""",
    "Gauss and Seidel's iteration": """
        L, U : real[n, n]; b : real[n]
        x[0] = zeros(n)
        x[k] = solve(L, b - U@x[k-1]) for k in 1..6
        y = sum(x[6]**2)""",
    "Levinson's recursion": """
        r : real[5]
        E[0] = 4 + r[0]; A[0] = array([1, 0, 0, 0, 0])
        k = -A[t-1]@r[::-1]/E[t-1]; E[t] = E[t-1]*(1 - k**2); A[t] = A[t-1] + k*A[t-1][::-1] for t in 1..4
        y = E[4]""",
    "descent on data": """
        X : real[n, m]; v : real[n]; w0 : real[m]; eta : positive
        w[0] = w0
        w[t] = w[t-1] - eta*X.T@(X@w[t-1] - v)/n for t in 1..7
        y = mean((X@w[7] - v)**2)""",
    "tridiagonal system": """
        a, c, d : real[n]
        g[0] = 0; f[0] = 0
        s = 4 - a[k-1]*g[k-1]; g[k] = c[k-1]/s; f[k] = (d[k-1] - a[k-1]*f[k-1])/s for k in 1..n
        x[n] = 0
        x[k-1] = f[k] - g[k]*x[k] for k in n..1
        y = sum(x**2)""",
    "Newton's search": """
        a : positive
        z[0] = a + 1
        z[k] = z[k-1] - (z[k-1]**2 - a)/(2*z[k-1]) until abs(z[k]**2 - a) < 1e-3, at most 6
        y = z[6]""",
    "secant method": """
        a : positive
        z[0] = a; z[1] = 1
        f = z[k]**2 - a; z[k+1] = z[k] - f/(f - z[k-1]**2 + a)*(z[k] - z[k-1]) until abs(z[k]**2 - a) < 1e-4, at most 9
        y = z[-1]""",
    "bisection": """
        a : real(0, 1)
        l[0] = 0; h[0] = 1
        m = (l[k-1] + h[k-1])/2; l[k] = where(m**2 < a, m, l[k-1]); \\
            h[k] = where(m**2 < a, h[k-1], m) until h[k] - l[k] < 0.01, at most 9
        y = a*h[9]""",
    "power iteration": """
        A : positive[n, n]
        v[0] = ones(n); d[0] = 1
        w = A@v[k-1]; v[k] = w/sum(w); d[k] = sum((v[k] - v[k-1])**2) until d[k] < 1e-6, at most 7
        y = sum(A@v[7])""",
    "first passage": """
        x : real[T]; a : positive
        s[0] = a
        s[t] = s[t-1] + t*x[t-1]**2 until s[t] > 1.3 or t > 3, at most T
        y = s[T]**2""",
    "Fibonacci": "a, b : real\nF[0] = a; F[1] = b\nF[n] = F[n-1] + F[n-2] for n in 2..9\ny = F[9]*F[2]",
}


def unrolled(nodes: Sequence[Node]) -> list[Node]:
    """Return formulas with the steps of their recurrences written out; all numbers of steps are numbers."""
    stacks: dict[Node, list[Node]] = {}

    def rebuilt(node: Node, args: list[Node]) -> Node:
        if node.op.name == "part" and node.args[0] in stacks:
            number: int = node.params[0]
            return stacks[node.args[0]][number]
        new = with_args(node, args)
        if node.op.name in ("pack", "part"):
            native: Any = node.op.array.native
            return native(new, tuple(args))
        if not is_recurrence(node):
            return new
        stacks[node] = [concatenate(*(expand(v, [0]) for v in some), params=(0,)) for some in _values(new)]
        return stacks[node][0]

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def _values(node: Node) -> Iterator[list[Node]]:
    """Yield all values of each carry of a recurrence, from the first position on."""
    length, reverse, body = node.params
    assert isinstance(body, Body)
    starts, rows, operands = divide(node)
    states = [list(starts)]
    order = range(length)[::-1] if reverse else range(length)
    for at in order:
        read = [index(x, at) for x in rows]
        states.append(unrolled(body.applied([*states[-1], *read, *operands])))
    for some in zip(*states, strict=True):
        yield list(some)[::-1] if reverse else list(some)
