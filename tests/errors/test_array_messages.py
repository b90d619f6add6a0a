"""Every message about arrays in programs: its class, its place, its text and its cure."""

from __future__ import annotations

import pytest

from symgrad import errors
from symgrad.errors import ShapeError, SymgradError
from symgrad.frontend.text import parse_program

DECLARED = "X : real[n, 5]\nw : real[5]\ny : real[n]\nv : real[3]\nids : int[m]\nk : int\ns : real\n"

# text after DECLARED, class, column, what, cure
CASES = [
    ("norm(X, ord=s)", "DomainError", 13, "ord of norm is no order of a norm", 'write 1, 2, "inf" or "fro"'),
    (
        "X@y",
        "ShapeError",
        1,
        "@ of 'X' of shape (n, 5) and 'y' of shape (n,): 5 is not n",
        "transpose one of them with .T, or check the declared shapes",
    ),
    (
        "X.T@w",
        "ShapeError",
        1,
        "@ of 'X.T' of shape (5, n) and 'w' of shape (5,): n is not 5",
        "transpose one of them with .T, or check the declared shapes",
    ),
    (
        "X + y",
        "ShapeError",
        1,
        "the shapes of 'X' and 'y' do not broadcast: (n, 5) and (n,)",
        "y goes with the first axis of X: write y[:, None]",
    ),
    (
        "(X@w + 1)[:, 0]",
        "ShapeError",
        1,
        "2 subscripts for an array of shape (n,)",
        "check the arguments and the declared shapes",
    ),
    (
        "X[0, 0, 0]",
        "ShapeError",
        1,
        "3 subscripts for an array of shape (n, 5)",
        "check the arguments and the declared shapes",
    ),
    (
        "v[3]",
        "IndexRangeError",
        1,
        "index 3 for axis 0 of shape (3,)",
        "check the arguments and the declared shapes",
    ),
    ("X[y]", "DomainError", 1, "a subscript of kind real", "declare it int, as in ids : int[n]"),
    ("X[1.5]", "DomainError", 1, "a subscript of kind real", "declare it int, as in ids : int[n]"),
    (
        "X[X > 0]",
        "UnsupportedError",
        1,
        "a subscript that is a truth value: the size of its result depends on the data",
        "write where(mask, x, 0)",
    ),
    (
        "X[(0, 1), 0]",
        "UnsupportedError",
        3,
        "a subscript that is a tuple, a text or a list of lists",
        "write x[i, j], or a list of whole numbers: x[[0, 2]]",
    ),
    (
        "X[[]]",
        "UnsupportedError",
        3,
        "a subscript that is a tuple, a text or a list of lists",
        "write x[i, j], or a list of whole numbers: x[[0, 2]]",
    ),
    (
        'X["a"]',
        "UnsupportedError",
        3,
        "a subscript that is a tuple, a text or a list of lists",
        "write x[i, j], or a list of whole numbers: x[[0, 2]]",
    ),
    ("X[::0]", "DomainError", 5, "the step of a slice is no literal whole number", "write x[::2] or x[::-1]"),
    ("X[::n]", "DomainError", 5, "the step of a slice is no literal whole number", "write x[::2] or x[::-1]"),
    (
        "X[:k]",
        "DomainError",
        4,
        "the end of a slice is no size",
        "write where(condition, x, 0) for what depends on values",
    ),
    (
        "X[:s]",
        "DomainError",
        4,
        "the end of a slice is no size",
        "write where(condition, x, 0) for what depends on values",
    ),
    (
        "X[..., ...]",
        "UsageError",
        1,
        "a subscript with more than one '...'",
        "check the arguments and the declared shapes",
    ),
    (
        "X[]",
        "ProgramSyntaxError",
        3,
        "']' stands where a value is expected after '['",
        "write a value before ']'",
    ),
    (
        "X.sum()",
        "UnsupportedError",
        2,
        "'.sum' is an attribute of arrays in Python; here '.T' is the only one",
        "write sum(X)",
    ),
    (
        "X.shape",
        "UnsupportedError",
        2,
        "'.shape' is an attribute of arrays in Python; here '.T' is the only one",
        "use the name of the size: with X : real[n, 5], the name n is a number",
    ),
    (
        "X.mT",
        "UnsupportedError",
        2,
        "'.mT' is an attribute of arrays in Python; here '.T' is the only one",
        "write swapaxes(x, -1, -2)",
    ),
    (
        "X.foo",
        "ForbiddenSyntaxError",
        2,
        "attributes such as '.foo' are not part of formulas",
        "write a function call such as sin(x), or a plain name",
    ),
    (
        "X.T.T.b",
        "ForbiddenSyntaxError",
        6,
        "attributes such as '.b' are not part of formulas",
        "write a function call such as sin(x), or a plain name",
    ),
    (
        "sum(X, axis=2)",
        "ShapeError",
        1,
        "axis 2 of an array with 2 axes",
        "check the arguments and the declared shapes",
    ),
    (
        "sum(X, axis=(0, 0))",
        "ShapeError",
        1,
        "axis (0, 0) names one axis twice",
        "check the arguments and the declared shapes",
    ),
    (
        "sum(X, axis=s)",
        "DomainError",
        13,
        "axis of sum is not a literal whole number",
        "write a number such as axis=0",
    ),
    (
        'sum(X, axis="0")',
        "DomainError",
        13,
        "axis of sum is not a literal whole number",
        "write a number such as axis=0",
    ),
    (
        "sum(X, axis=True)",
        "DomainError",
        13,
        "axis of sum is not a literal whole number",
        "write a number such as axis=0",
    ),
    (
        "sum(X, keepdims=1)",
        "DomainError",
        17,
        "keepdims of sum is neither True nor False",
        "write keepdims=True",
    ),
    (
        "sum(X, keepdims=s)",
        "DomainError",
        17,
        "keepdims of sum is neither True nor False",
        "write keepdims=True",
    ),
    ("sum(X, axis=0, axis=1)", "ProgramSyntaxError", 16, "sum gets axis twice", "leave it out"),
    ("sum(X, 0, axis=1)", "ProgramSyntaxError", 11, "sum gets axis twice", "leave it out"),
    (
        "sum(axis=0, X)",
        "ProgramSyntaxError",
        13,
        "a positional argument follows a keyword argument",
        "move it before the keyword arguments",
    ),
    ("sum()", "ProgramSyntaxError", 1, "sum takes at least 1 argument, got 0", "add the missing argument"),
    (
        "sum(X, 0, True, 1)",
        "ProgramSyntaxError",
        1,
        "sum takes at most 3 arguments, got 4",
        "remove an argument",
    ),
    (
        "sum((X, X))",
        "DomainError",
        5,
        "x of sum is an array, not a tuple",
        "write stack((X, X)) for an array of values",
    ),
    ('sum("X")', "DomainError", 5, "x of sum is an array, not a text", "write one value"),
    ("sum(None)", "DomainError", 5, "x of sum is an array, not None", "write one value"),
    (
        "max(s, s)",
        "DomainError",
        8,
        "axis of max is not a literal whole number",
        "write maximum(s, s)",
    ),
    (
        "min(s, 1)",
        "ShapeError",
        8,
        "axis 1 of an array with 0 axes",
        "write minimum(s, 1)",
    ),
    (
        "reshape(X, (n, 4))",
        "ShapeError",
        1,
        "reshape: an array of shape (n, 5) has 5*n elements, one of shape (n, 4) has 4*n",
        "check the arguments and the declared shapes",
    ),
    (
        "reshape(X, (-1, -1))",
        "ShapeError",
        1,
        "reshape with more than one -1",
        "check the arguments and the declared shapes",
    ),
    (
        "reshape(X, (s, 5))",
        "DomainError",
        13,
        "shape of reshape is no size",
        "use the names of sizes in declarations: n of X : real[n, 5]",
    ),
    (
        "reshape(X, (n/2, 10))",
        "DomainError",
        13,
        "shape of reshape is no size",
        "use the names of sizes in declarations: n of X : real[n, 5]",
    ),
    (
        'reshape(X, "a")',
        "DomainError",
        12,
        "shape of reshape is no size",
        "use the names of sizes in declarations: n of X : real[n, 5]",
    ),
    ("zeros((-1, 3))", "ShapeError", 8, "-1 is no size", "write a number that is not negative"),
    (
        "zeros(k)",
        "DomainError",
        7,
        "shape of zeros is no size",
        "use the names of sizes in declarations: n of X : real[n, 5]",
    ),
    (
        "eye(2.5)",
        "DomainError",
        5,
        "rows of eye is no size",
        "use the names of sizes in declarations: n of X : real[n, 5]",
    ),
    ("stack(X)", "DomainError", 7, "stack takes its arrays in one tuple", "write stack((a, b))"),
    (
        "stack((v, w))",
        "ShapeError",
        1,
        "stack of 'v' of shape (3,) and 'w' of shape (5,)",
        "check the arguments and the declared shapes",
    ),
    ("stack(())", "UsageError", 1, "stack of no arrays", "check the arguments and the declared shapes"),
    (
        "concatenate((X, v))",
        "ShapeError",
        1,
        "concatenate: 'X' of shape (n, 5) and 'v' of shape (3,) do not join along axis 0",
        "check the arguments and the declared shapes",
    ),
    (
        "concatenate((v, v), axis=1)",
        "ShapeError",
        1,
        "axis 1 of an array with 1 axes",
        "check the arguments and the declared shapes",
    ),
    ("concatenate((s, s))", "ShapeError", 1, "concatenate of scalars", "use stack"),
    (
        "einsum(X, w)",
        "DomainError",
        8,
        "the subscripts of einsum are not a text in quotes",
        'write them first: einsum("ij,jk->ik", A, B)',
    ),
    (
        'einsum("ij,j", X)',
        "UsageError",
        1,
        "einsum: 2 subscripts for 1 operands",
        "check the arguments and the declared shapes",
    ),
    (
        'einsum("ij,j->i", X, y)',
        "ShapeError",
        1,
        "einsum: 'X' of shape (n, 5) and 'y' of shape (n,) share an axis: 5 is not n",
        "check the arguments and the declared shapes",
    ),
    (
        'einsum("i2,j->i", X, y)',
        "UsageError",
        1,
        "einsum: 'i2'",
        "check the arguments and the declared shapes",
    ),
    ('einsum("ij->ii", X)', "UsageError", 1, "einsum: '->ii'", "check the arguments and the declared shapes"),
    (
        'einsum("ij,jk->il", X, X)',
        "UsageError",
        1,
        "einsum: '->il'",
        "check the arguments and the declared shapes",
    ),
    (
        "einsum()",
        "ProgramSyntaxError",
        1,
        "einsum takes at least 1 argument, got 0",
        "add the missing argument",
    ),
    (
        "matmul(X)",
        "ProgramSyntaxError",
        1,
        "matmul takes at least 2 arguments, got 1",
        "add the missing argument",
    ),
    (
        "outer(X, y, v)",
        "ProgramSyntaxError",
        1,
        "outer takes at most 2 arguments, got 3",
        "remove an argument",
    ),
    (
        "trace(X)",
        "ShapeError",
        1,
        "trace of an array of shape (n, 5)",
        "check the arguments and the declared shapes",
    ),
    (
        "diag(X)",
        "ShapeError",
        1,
        "diag of an array of shape (n, 5)",
        "check the arguments and the declared shapes",
    ),
    (
        "transpose(X, (0, 0))",
        "ShapeError",
        1,
        "transpose with axes [0, 0] of an array with 2 axes",
        "check the arguments and the declared shapes",
    ),
    (
        "swapaxes(X, 0, 2)",
        "ShapeError",
        1,
        "axis 2 of an array with 2 axes",
        "check the arguments and the declared shapes",
    ),
    (
        "squeeze(X, axis=0)",
        "ShapeError",
        1,
        "squeeze of axis 0 of shape (n, 5)",
        "check the arguments and the declared shapes",
    ),
    (
        "broadcast_to(X, (5, 3))",
        "ShapeError",
        1,
        "broadcast_to: sizes n and 5 do not broadcast",
        "check the declared shapes of the operands",
    ),
    ("one_hot(y, 5)", "DomainError", 1, "an index array of kind real", "declare it int, as in ids : int[n]"),
    (
        "one_hot(ids, s)",
        "DomainError",
        14,
        "depth of one_hot is no size",
        "use the names of sizes in declarations: n of X : real[n, 5]",
    ),
    (
        "gather(X, ids, ids, axes=(0,))",
        "ShapeError",
        1,
        "2 index arrays for axes (0,); 'X' is (n, 5), 'ids' is (m,), 'ids' is (m,)",
        "check the arguments and the declared shapes",
    ),
    ("gather(X, ids)", "ProgramSyntaxError", 1, "gather has no argument axes=", "add axes=..., as expected"),
    (
        "scatter_add(y, ids, shape=(9,))",
        "ShapeError",
        1,
        "scatter_add: values of shape (n,) for positions of shape (m,); 'y' is (n,), 'ids' is (m,)",
        "check the arguments and the declared shapes",
    ),
    (
        "unslice(v, ((1, None),), (4,))",
        "DomainError",
        12,
        "unslice takes (start, stop, step) for each axis",
        "write ((1, None, 1), (None, None, -1)) for 1: and ::-1",
    ),
    (
        "unslice(v, ((1, None, 1), (0, 1, 1)), (4,))",
        "ShapeError",
        1,
        "2 slices for 1 axes",
        "check the arguments and the declared shapes",
    ),
    (
        "slice(v, 3)",
        "DomainError",
        10,
        "slice takes (start, stop, step) for each axis",
        "write ((1, None, 1), (None, None, -1)) for 1: and ::-1",
    ),
    ("norm(X, ord=3)", "UnsupportedError", 1, "the norm of order 3 over 2 axes", "write its formula"),
    ('norm(X, ord="nuc")', "UnsupportedError", 1, "the norm of order 'nuc' over 2 axes", "write its formula"),
    (
        "inv(X)",
        "ShapeError",
        1,
        "inv: an array of shape (n, 5)",
        "check the declared shape; X.T@X is square for every matrix X",
    ),
    (
        "solve(X.T@X, v)",
        "ShapeError",
        1,
        "solve: 'X.T@X' of shape (5, 5) and 'v' of shape (3,) are not a system of equations",
        "check the declared shapes; a stack of vectors is one of matrices with one column: b[..., None]",
    ),
    (
        "matrix_power(X.T@X, s)",
        "DomainError",
        21,
        "n of matrix_power is not a literal whole number",
        "write a number such as n=0",
    ),
    (
        "pinv(X)",
        "UnsupportedError",
        1,
        "'pinv' is not in this version",
        "write its formula, or compute it in NumPy and pass it as an input",
    ),
    ("all(X)", "UnsupportedError", 1, "'all' is not in this version", "write min(where(c, 1, 0)) == 1"),
    ("Sum(X)", "UnsupportedError", 1, "'Sum' is not in this version", "write sum(x) of an array"),
    (
        "argmax(zeros((0, 3)), axis=0)",
        "ShapeError",
        1,
        "argmax: the extreme of no elements does not exist",
        "reduce over axes that are not empty",
    ),
    (
        "sqrt(X, axis=0)",
        "ProgramSyntaxError",
        9,
        "sqrt acts entry by entry and takes no argument named 'axis'",
        "leave it out",
    ),
    (
        "sin((X, y))",
        "ProgramSyntaxError",
        5,
        "a tuple or list is not a value",
        "write one value, or stack((a, b)) for an array of values",
    ),
    (
        "sin([X])",
        "ProgramSyntaxError",
        5,
        "a tuple or list is not a value",
        "write one value, or stack((a, b)) for an array of values",
    ),
    ("sin(None)", "ForbiddenSyntaxError", 5, "'None' is a word of Python, not of formulas", "leave it out"),
    (
        'sin("x")',
        "ForbiddenSyntaxError",
        5,
        "texts in quotes (and f-strings) are not part of formulas",
        "write the formula itself",
    ),
]


@pytest.mark.parametrize(("text", "name", "column", "what", "cure"), CASES)
def test_message(text: str, name: str, column: int, what: str, cure: str) -> None:
    with pytest.raises(SymgradError) as caught:
        parse_program(DECLARED + text)
    error = caught.value
    assert type(error) is getattr(errors, name)
    assert error.at is not None
    assert (error.at.line, error.at.column) == (8, column)
    assert (error.what, error.cure) == (what, cure)


def test_shapes_that_disagree_are_shown_whole() -> None:
    with pytest.raises(ShapeError) as caught:
        parse_program("X : real[n, 5]\ny : real[n]\nloss = sum((X.T@(X@y) - 1)**2)", name="file.sg")
    assert str(caught.value) == (
        "@ of 'X' of shape (n, 5) and 'y' of shape (n,): 5 is not n\n"
        "file.sg, line 3, column 18\n"
        "    loss = sum((X.T@(X@y) - 1)**2)\n"
        "                     ^^^\n"
        "  expected: the last axis of the left operand as long as the second last axis of the right one\n"
        "  try: transpose one of them with .T, or check the declared shapes"
    )


def test_long_operands_are_shortened() -> None:
    terms = " + ".join(f"sin({i}*y)" for i in range(20))
    with pytest.raises(ShapeError) as caught:
        parse_program(f"X : real[n, 5]\ny : real[n]\nz = X*({terms})")
    assert caught.value.what == (
        "the shapes of 'X' and '(sin(0*y) + sin(1*y) + sin(2*y) + sin...' do not broadcast: (n, 5) and (n,)"
    )
