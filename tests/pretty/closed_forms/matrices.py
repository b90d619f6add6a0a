"""Derivatives of scalars by vectors and matrices."""

from __future__ import annotations

from tests.pretty.closed_forms.row import Row

# Petersen and Pedersen, The Matrix Cookbook (2012), by its numbers (MC); Magnus and Neudecker.
MATRICES = [
    Row("linear (69)", "a, x : real[n]\ny = a@x", "x", "a"),
    Row("bilinear (70)", "a : real[n]; b : real[m]; X : real[n, m]\ny = a@X@b", "X", "outer(a, b)"),
    Row(
        "bilinear transposed (71)",
        "a : real[m]; b : real[n]; X : real[n, m]\ny = a@X.T@b",
        "X",
        "outer(b, a)",
    ),
    Row("square of a vector", "x : real[n]\ny = x@x", "x", "2*x"),
    Row("norm", "x : real[n]\ny = norm(x)", "x", "where(y != 0, x/y, 0)"),
    Row("distance (129)", "x, a : real[n]\ny = norm(x - a)", "x", "where(y != 0, (x - a)/y, 0)"),
    Row("squared norm", "x : real[n]\ny = sum(x**2)", "x", "2*x"),
    Row("half a squared norm", "x : real[n]\ny = sum(x**2)/2", "x", "x"),
    Row("quadratic form (81)", "A : real[n, n]; x : real[n]\ny = x@A@x", "x", "(A + A.T)@x"),
    Row("symmetric quadratic form", "S : real[n, n] symmetric; x : real[n]\ny = x@S@x", "x", "2*S@x"),
    Row("half of it", "S : real[n, n] symmetric; x : real[n]\ny = x@S@x/2", "x", "S@x"),
    Row("quadratic form by its matrix (72)", "A : real[n, n]; x : real[n]\ny = x@A@x", "A", "outer(x, x)"),
    Row(
        "least squares (84)",
        "A : real[m, n]; x : real[n]; b : real[m]\nr = A@x - b\ny = sum(r**2)/2",
        "x",
        "A.T@r",
    ),
    Row(
        "weighted least squares (85)",
        "A : real[m, n]; x : real[n]; b : real[m]\nW : real[m, m] symmetric\nr = b - A@x\ny = r@W@r",
        "x",
        "-2*A.T@(W@r)",
    ),
    Row(
        "by the matrix (88)",
        "A : real[m, n]; x : real[n]; b : real[m]\nW : real[m, m] symmetric\nr = b - A@x\ny = r@W@r",
        "A",
        "-2*outer(W@r, x)",
    ),
    Row(
        "ridge",
        (
            "A : real[m, n]; x : real[n]; b : real[m]; lam : positive\n"
            "r = A@x - b\n"
            "y = sum(r**2)/2 + lam/2*sum(x**2)"
        ),
        "x",
        "lam*x + A.T@r",
    ),
    Row("trace (99)", "X : real[n, n]\ny = trace(X)", "X", "eye(n)"),
    Row("trace of a product (100)", "X : real[n, m]; A : real[m, n]\ny = trace(X@A)", "X", "A.T"),
    Row(
        "trace of a product of three (101)",
        "A : real[k, n]; X : real[n, m]; B : real[m, k]\ny = trace(A@X@B)",
        "X",
        "A.T@B.T",
    ),
    Row("trace transposed (103)", "X : real[n, m]; A : real[n, m]\ny = trace(X.T@A)", "X", "A"),
    Row("trace of a square (106)", "X : real[n, n]\ny = trace(X@X)", "X", "2*X.T"),
    Row("trace of X.T X (108, 115)", "X : real[n, m]\ny = trace(X.T@X)", "X", "2*X"),
    Row("Frobenius norm", "X : real[n, m]\ny = norm(X)", "X", "where(y != 0, X/y, 0)"),
    Row(
        "trace of X.T B X (111)", "X : real[n, m]; B : real[n, n] symmetric\ny = trace(X.T@B@X)", "X", "2*B@X"
    ),
    Row(
        "trace of A X B X.T (116)",
        "X : real[n, m]; A : real[n, n] symmetric; B : real[m, m] symmetric\ny = trace(A@X@B@X.T)",
        "X",
        "2*A@X@B",
    ),
    Row("trace of a cube (121)", "X : real[n, n]\ny = trace(X@X@X)", "X", "3*(X@X).T"),
    Row("trace of an inverse (124)", "X : real[n, n]\ny = trace(inv(X))", "X", "-(inv(X)@inv(X)).T"),
    Row(
        "trace with an inverse (63)",
        "X : real[n, n]; A : real[n, n]\ny = trace(A@inv(X))",
        "X",
        "-(inv(X)@A@inv(X)).T",
    ),
    Row(
        "bilinear in an inverse (61)",
        "X : real[n, n]; a, b : real[n]\ny = a@inv(X)@b",
        "X",
        "-outer(inv(X).T@a, inv(X)@b)",
    ),
    Row("determinant (49)", "X : real[n, n]\ny = det(X)", "X", "y*inv(X).T"),
    Row(
        "determinant of a product (51)",
        "A : real[n, n]; X : real[n, n]; B : real[n, n]\ny = det(A@X@B)",
        "X",
        "y*inv(X).T",
    ),
    Row("power of a determinant (58)", "X : real[n, n]\ny = det(X)**3", "X", "3*y*inv(X).T"),
    Row("log determinant (57)", "X : real[n, n]\ny = logdet(X)", "X", "inv(X).T"),
    Row("log determinant of a symmetric matrix", "S : real[n, n] symmetric\ny = logdet(S)", "S", "inv(S)"),
    Row("log determinant of X.T X (55)", "X : real[n, m]\ny = logdet(X.T@X)", "X", "2*X@inv(X.T@X)"),
    Row(
        "sum of squares of a product",
        "A : real[n, k]; B : real[k, m]; Y : real[n, m]\nR = A@B - Y\ny = sum(R**2)/2",
        "A",
        "R@B.T",
    ),
    Row(
        "and by the other factor",
        "A : real[n, k]; B : real[k, m]; Y : real[n, m]\nR = A@B - Y\ny = sum(R**2)/2",
        "B",
        "A.T@R",
    ),
    Row(
        "Rayleigh quotient",
        "S : real[n, n] symmetric; x : real[n]\nq = x@S@x/(x@x)",
        "x",
        "2*(S@x - q*x)/(x@x)",
    ),
    Row(
        "cosine similarity",
        "x, y : real[n]\nc = x@y/(norm(x)*norm(y))",
        "x",
        "(y/norm(y) - c*x/norm(x))/norm(x)",
    ),
    Row("linear solve", "A : real[n, n]; b, c : real[n]\nx = solve(A, b)\ny = c@x", "b", "solve(A.T, c)"),
    Row(
        "linear solve by its matrix",
        "A : real[n, n]; b, c : real[n]\nx = solve(A, b)\ny = c@x",
        "A",
        "-outer(solve(A.T, c), x)",
    ),
    Row(
        "Mahalanobis distance",
        "x, mu : real[n]; S : real[n, n] symmetric\nd = x - mu\ny = d@solve(S, d)",
        "x",
        "2*solve(S, d)",
    ),
    Row(
        "expectation of a quadratic form (MC 318)",
        "A : real[n, n]; x, m : real[n]\nd = x - m\ny = d@A@d",
        "m",
        "-(A + A.T)@d",
    ),
    Row(
        "MC (82) b'X'Xc",
        "X : real[n, m]; b, c : real[m]\ny = b@X.T@X@c",
        "X",
        "X@(outer(b, c) + outer(c, b))",
    ),
    Row(
        "MC (83) (Bx+b)'C(Dx+d)",
        "B, D : real[m, n]; C : real[m, m]; x : real[n]; b, d : real[m]\ny = (B@x + b)@C@(D@x + d)",
        "x",
        "D.T@(C.T@(B@x + b)) + B.T@(C@(D@x + d))",
    ),
    Row("MC (77) a'XX'a", "X : real[n, m]; a : real[n]\ny = a@X@X.T@a", "X", "2*outer(a, X.T@a)"),
    Row(
        "MC (117) tr(A X B X)",
        "X : real[n, n]; A, B : real[n, n]\ny = trace(A@X@B@X)",
        "X",
        "(A@X@B + B@X@A).T",
    ),
    Row("MC (107) tr(X^2 B)", "X, B : real[n, n]\ny = trace(X@X@B)", "X", "(B@X + X@B).T"),
    Row("MC (109) tr(XBX')", "X : real[n, m]; B : real[m, m]\ny = trace(X@B@X.T)", "X", "X@(B + B.T)"),
    Row(
        "MC (119) tr((AXB+C)(AXB+C)')",
        ("A : real[k, n]; X : real[n, m]; B : real[m, l]; C : real[k, l]\nE = A@X@B + C\ny = trace(E@E.T)"),
        "X",
        "2*A.T@E@B.T",
    ),
    Row("MC (58) squared det", "X : real[n, n]\ny = det(X)**2", "X", "2*y*inv(X).T"),
    Row(
        "MC (52) det X'AX", "X : real[n, n]; A : real[n, n] symmetric\ny = logdet(X.T@A@X)", "X", "2*inv(X).T"
    ),
    Row(
        "MC (64) tr((X+A)^-1)", "X, A : real[n, n]\ny = trace(inv(X + A))", "X", "-(inv(X + A)@inv(X + A)).T"
    ),
    Row(
        "MC (125) tr((X'CX)^-1 A)",
        ("X : real[n, m]; C : real[n, n] symmetric; A : real[m, m] symmetric\ny = trace(inv(X.T@C@X)@A)"),
        "X",
        "-2*C@X@inv(X.T@C@X)@A@inv(X.T@C@X)",
    ),
    Row("determinant times scalar", "X : real[n, n]; a : positive\ny = a*det(X)", "a", "det(X)"),
    Row("inner product of matrices", "A, B : real[n, m]\ny = sum(A*B)", "A", "B"),
    Row("squared Frobenius distance", "A, B : real[n, m]\ny = norm(A - B)**2", "A", "2*(A - B)"),
    Row("half squared Frobenius", "X, A : real[n, m]\ny = sum((X - A)**2)/2", "X", "X - A"),
    Row("trace of AX'B", "X : real[n, m]; A : real[k, m]; B : real[n, k]\ny = trace(A@X.T@B)", "X", "B@A"),
    Row(
        "nuclear-like tr(XAX'B)",
        "X : real[n, m]; A : real[m, m]; B : real[n, n]\ny = trace(X@A@X.T@B)",
        "X",
        "B@X@A + B.T@X@A.T",
    ),
    Row("sum of a product", "A : real[n, m]; x : real[m]\ny = sum(A@x)", "x", "sum(A, axis=0)"),
    Row(
        "norm of a product",
        "A : real[n, m]; x : real[m]\nu = A@x\ny = norm(u)",
        "x",
        "A.T@where(y != 0, u/y, 0)",
    ),
    Row("squared norm of a product", "A : real[n, m]; x : real[m]\ny = sum((A@x)**2)", "x", "2*A.T@(A@x)"),
    Row(
        "quadratic form in a projection",
        "A : real[n, n]; x, b : real[n]\ny = x@A@x/2 - b@x",
        "x",
        "(A + A.T)@x/2 - b",
    ),
    Row("CG objective", "A : real[n, n] symmetric; x, b : real[n]\ny = x@A@x/2 - b@x", "x", "A@x - b"),
    Row(
        "generalised Rayleigh",
        "A, B : real[n, n] symmetric; w : real[n]\nJ = w@A@w/(w@B@w)",
        "w",
        "2*(A@w - J*B@w)/(w@B@w)",
    ),
    Row("weighted norm", "x : real[n]; w : real[n]\ny = sum(w*x**2)", "x", "2*w*x"),
]
