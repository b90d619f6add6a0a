"""The command line as a user meets it: output, files, exit codes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from symgrad.apps.cli.demo import PROGRAM
from symgrad.errors import UsageError


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "noise.sg"
    path.write_text(PROGRAM)
    return str(path)


def test_derive_takes_files_expressions_and_standard_input(call, program):
    assert call("derive", program, "--of", "z", "--wrt", "x").stdout.startswith("dz/dx = u*x/z\n")
    assert call("derive", "x**3", "--wrt", "x").stdout == "d/dx = 3*x**2\n"
    assert call("derive", "-", stdin="x : real\ny = x**2\n").stdout == "dy/dx = 2*x\n"


def test_derive_says_what_a_zero_is_and_where_the_domain_grew(call, program):
    assert "# stopped" in call("derive", "stop_gradient(x)*y", "--wrt", "x").stdout
    assert "also defined at y = 0" in call("derive", program, "--of", "z_outer").stdout


def test_derive_in_stable_form(call):
    assert call("derive", "log(1 + exp(x))", "--wrt", "x", "--stable").stdout == "d/dx = sigmoid(x)\n"


def test_derive_to_higher_order_and_by_an_intermediate(call, program):
    out = call("derive", "x**2*y", "--order", "2").stdout.splitlines()
    assert out == ["d/dx = 2*x*y", "d/dy = x**2", "d2/dx dx = 2*y", "d2/dx dy = 2*x", "d2/dy dy = 0"]
    assert call("derive", program, "--of", "z", "--wrt", "yu").stdout == "dz/dyu = 1/(2*z)\n"


def test_derive_as_latex_and_json(call):
    assert call("derive", "x**2", "--format", "latex").stdout == "\\frac{\\partial }{\\partial x} = 2 x\n"
    (row,) = json.loads(call("derive", "x : real\ny = x**2", "--format", "json").stdout)
    assert row == {
        "of": "y",
        "wrt": ["x"],
        "derivative": "2*x",
        "latex": "2 x",
        "nothing": None,
        "domain_notes": [],
        "form_notes": [],
    }


def test_explain_in_every_form(call, program, tmp_path):
    text = call("explain", program, "--of", "z_inner", "--wrt", "x").stdout
    assert "the pullback of sqrt reads the forward value z_inner" in text.replace("\n", " ").replace(
        "  ", " "
    )
    data = json.loads(call("explain", program, "--of", "z_outer", "--wrt", "x", "--format", "json").stdout)
    assert data["noise"]["u"]["enters"] is False
    assert "\\begin" in call("explain", program, "--of", "z", "--format", "latex").stdout
    page = call("explain", program, "--of", "z", "--format", "html").stdout
    assert page.lower().startswith("<!doctype html>")
    assert call("explain", program, "--of", "z_inner", "--picture", "g.svg").exit_code == 0
    ElementTree.parse(tmp_path / "g.svg")


def test_run_reads_numbers_npy_and_csv_and_writes_files(call, program, tmp_path):
    np.save(tmp_path / "x.npy", [-2.0, 3.0])
    (tmp_path / "t.csv").write_text("u,w\n1,5\n4,6\n")
    result = call("run", program, "--of", "z", "--wrt", "x", "x=x.npy", "u=t.csv:u", "--format", "json")
    assert json.loads(result.stdout) == {"z": [2.0, 6.0], "dz_dx": [-1.0, 2.0]}
    assert call("run", "x**2", "x=x.npy", "-o", "out.csv").exit_code == 0
    assert (tmp_path / "out.csv").read_text() == "value,dvalue_dx\n4.0,-4.0\n9.0,6.0\n"
    assert call("run", "x**2", "x=x.npy", "-o", "out.npz").exit_code == 0
    with np.load(tmp_path / "out.npz") as arrays:
        assert np.array_equal(arrays["dvalue_dx"], [-4.0, 6.0])
    assert call("run", "x**2", "x=x.npy", "--no-gradient", "-o", "out.npy").exit_code == 0
    assert np.array_equal(np.load(tmp_path / "out.npy"), [4.0, 9.0])


def test_run_prints_a_table_and_null_for_what_is_no_number(call):
    lines = call("run", "1/x", "x=1,0").stdout.splitlines()
    assert lines[0].split() == ["x", "value", "dvalue_dx"]
    assert lines[2].split() == ["0.0", "inf", "-inf"]
    assert json.loads(call("run", "log(x)", "x=-1", "--format", "json").stdout) == {
        "value": None,
        "dvalue_dx": -1.0,
    }
    many = ",".join(str(i) for i in range(100))
    assert "80 more rows" in call("run", "x**2", f"x={many}").stdout


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("derive", "sin(x"), 1, "never closed"),
        (("derive", "x**2", "--wrt", "q"), 1, "'q' is not in the program"),
        (("derive", "x", "--of", "zz"), 1, "the program has no 'zz'"),
        (("derive", "__import__('os').system('touch owned')"), 1, "^"),
        (("derive", "5"), 2, "no real input"),
        (("derive", "x**2", "--wrt", ","), 2, "--wrt names nothing"),
        (("derive", "."), 1, "^"),
        (("run", "5"), 2, "--no-gradient"),
        (("run", "x**2", "x=1,,2"), 2, "'1,,2' is not a value"),
        (("derive", "missing.sg"), 3, "missing.sg: No such file"),
        (("run", "x**2"), 1, "no value for x"),
        (("run", "x**2", "x=one"), 2, "'one' is not a value"),
        (("run", "x**2", "y=1"), 1, "'y' is not an input"),
        (("run", "x**2", "x"), 2, "gives no value"),
        (("run", "x**2", "x=1", "x=2"), 2, "given twice"),
        (("run", "x**2", "x=nothing.npy"), 3, "nothing.npy"),
        (("run", "x**2", "x=1", "-o", "out.pdf"), 2, "cannot write 'out.pdf'"),
        (("run", "x**2", "x=1", "-o", "out.npy"), 2, "holds one array"),
        (("compile", "x**2", "-o", "k.exe"), 2, "cannot write 'k.exe'"),
        (("run", "x*9**9**9**9", "x=1"), 1, "too large"),
        (("frobnicate",), 2, "No such command"),
        (("derive",), 2, "Missing argument"),
    ],
)
def test_bad_input_gets_one_message_and_its_exit_code(call, tmp_path, args, code, text):
    result = call(*args)
    assert result.exit_code == code, result.output
    assert text in result.stderr
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_all_partials_up_to_an_order_in_one_kernel(call, tmp_path):
    result = call("compile", "x : real\ny : real\nz = x**2*y", "--order", "2", "-o", "k.o")
    assert result.exit_code == 0, result.output
    header = (tmp_path / "k.h").read_text()
    outputs = header.partition("int64_t n, ")[2].partition(")")[0].replace("double *", "").split(", ")
    assert outputs == ["z", "d_x", "d_y", "d_x_x", "d_x_y", "d_y_y"]
    out = call("run", "x : real\ny : real\nz = x**2*y", "x=3", "y=5", "--order", "2").stdout.splitlines()
    assert out[0].split() == ["x", "y", "z", "dz_dx", "dz_dy", "d2z_dx_dx", "d2z_dx_dy", "d2z_dy_dy"]
    assert out[1].split() == ["3.0", "5.0", "45.0", "30.0", "9.0", "10.0", "6.0", "0.0"]


def test_numbers_take_the_precision_of_the_kernel(call, tmp_path):
    (tmp_path / "q.csv").write_text("x\n0.1\n3\n")
    np.save(tmp_path / "i.npy", np.array([1, 2]))
    for values in ("x=q.csv", "x=0.1,3"):
        lines = call("run", "x**2", values, "--dtype", "float32").stdout.splitlines()
        assert lines[1].split() == ["0.1", str(np.float32(0.1) ** 2), "0.2"]
    assert call("run", "x**2", "x=i.npy", "--dtype", "float32").stdout.splitlines()[2].split() == [
        "2.0",
        "4.0",
        "4.0",
    ]


def test_conditions_are_values_too(call):
    out = call("run", "x : real\nc : bool\ny = where(c, x, 0)", "x=7", "c=True,False", "--no-gradient").stdout
    assert [line.split()[-1] for line in out.splitlines()] == ["y", "7.0", "0.0"]


def test_closed_standard_input_is_no_fault_of_ours(call, monkeypatch):
    import symgrad.apps.cli.files

    monkeypatch.setattr(symgrad.apps.cli.files.sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"):
        symgrad.apps.cli.files.read_source("-")


def test_compile_writes_what_the_suffix_says(call, program, tmp_path):
    for suffix in ("ll", "s"):
        result = call("compile", program, "--of", "z", "--wrt", "x", "-o", f"k.{suffix}")
        assert result.stdout == f"wrote k.{suffix}\n"
    assert "define" in (tmp_path / "k.ll").read_text()
    result = call("compile", program, "--of", "z", "--wrt", "x", "--name", "loss", "-o", "sub/k.o")
    assert result.stdout.split() == ["wrote", str(Path("sub/k.o")), "wrote", str(Path("sub/k.h"))]
    assert "loss(" in (tmp_path / "sub/k.h").read_text()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_a_c_program_links_the_object(call, program, tmp_path):
    call("compile", program, "--of", "z", "--wrt", "x", "--name", "loss", "-o", "k.o")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "k.h"\n'
        "int main(void) { double x[3] = {-2, -1, 1}, u[3] = {1, 1, 1}, z[3], d[3];\n"
        'loss(x, u, 3, z, d); for (int i = 0; i < 3; i++) printf("%g %g\\n", z[i], d[i]); return 0; }\n'
    )
    subprocess.run(["cc", "main.c", "k.o", "-lm", "-o", "a.out"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "a.out"], capture_output=True, text=True, check=True)
    assert done.stdout == "2 -1\n1 -1\n1 1\n"


def test_the_demo_answers_the_question(call, tmp_path):
    result = call("demo", "--directory", "out")
    right, wrong = result.stdout.split("The derivation of z_inner by hand")[1].split(
        "The same with the mistake"
    )
    assert "proved: 4 proved, 2 given" in right
    assert "WRONG   6 |       = 1/(2*sqrt(y))" in wrong
    assert "it holds back the gradient, not the value (stop-gradient-too-strong)" in wrong
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert out.count("u enters the gradient") == 2
    assert out.count("u does not enter the gradient") == 2
    assert "the pullback of sqrt reads the forward value z_inner, which depends on u through yu" in " ".join(
        out.split()
    )
    assert "z_exact: the same bits everywhere" in out
    ElementTree.parse(tmp_path / "out" / "z_inner.svg")


def test_the_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "symgrad", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("symgrad, version")


_LINE = "X : real[n, 2]\nw : real[2]\ny : real[n]\nloss = mean((X@w - y)**2)\n"


def test_an_array_program_prints_each_result_with_its_shape(call, tmp_path):
    (tmp_path / "line.sg").write_text(_LINE)
    np.savez(tmp_path / "data.npz", X=[[1.0, 2], [3, 4]], y=[1.0, 0])
    result = call("run", "line.sg", "X=data.npz", "w=1,1", "y=data.npz:y", "--wrt", "w")
    assert result.stdout.splitlines() == ["loss = 26.5", "dloss_dw : (2,)", "    [23. 32.]"]
    written = call("run", "line.sg", "X=[[1, 2], [3, 4]]", "w=[1, 1.]", "y=1,0", "-o", "out.npz")
    assert written.exit_code == 0, written.output
    with np.load(tmp_path / "out.npz") as arrays:
        assert {name: a.shape for name, a in arrays.items()} == {
            "loss": (),
            "dloss_dX": (2, 2),
            "dloss_dw": (2,),
            "dloss_dy": (2,),
        }
        assert np.array_equal(arrays["dloss_dw"], [23, 32])
    data = json.loads(call("run", "line.sg", "X=data.npz", "w=1,1", "y=1,0", "--format", "json").stdout)
    assert data["dloss_dX"] == [[2, 2], [7, 7]]


def test_a_list_of_one_and_one_of_none_are_lists(call):
    picked = "x : real[n]\nids : int[m]\ny = sum(x[ids]*stop_gradient(x[ids]))"
    lines = call("run", picked, "x=7", "ids=0").stdout.splitlines()
    assert lines == ["y = 49.0", "dy_dx : (1,)", "    [7.]"]
    assert call("run", picked, "x=1,2", "ids=[]").stdout.splitlines() == [
        "y = 0.0",
        "dy_dx : (2,)",
        "    [0. 0.]",
    ]
    assert "# stopped" in call("run", "x : real[n]\ny = sum(stop_gradient(x))", "x=1").stdout
    lines = call("run", "x : real[n, 2]\ny = 2*x", "x=[[1, 2], [3, 4]]", "--no-gradient").stdout.splitlines()
    assert lines == ["y : (2, 2)", "    [[2. 4.]", "     [6. 8.]]"]


def test_positions_keep_their_digits_in_a_kernel_of_float32(call):
    picked = "x : real[n]\nids : int[m]\ny = sum(x[ids])"
    result = call("run", picked, "x=1,2", f"ids={2**24 + 1}", "--dtype", "float32")
    assert "input 'ids' is 16777217 at [0], out of range" in result.stderr


def test_derivatives_of_arrays_are_jacobians(call):
    line = call("run", "x : real[n]\ny = x**2", "x=1,3").stdout.splitlines()
    assert line == ["y : (2,)", "    [1. 9.]", "dy_dx : (2, 2)", "    [[2. 0.]", "     [0. 6.]]"]
    rows = call("run", _LINE, "X=[[1, 2], [3, 4]]", "w=1,1", "y=1,0", "--wrt", "w", "--order", "2").stdout
    assert rows.splitlines()[-3:] == ["d2loss_dw_dw : (2, 2)", "    [[10. 14.]", "     [14. 20.]]"]
    assert call("derive", _LINE, "--wrt", "w,y", "--order", "2").stdout.count("d2loss/") == 3


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("X=[[1, 2], [3]]", "w=1,1", "y=1"), 1, "have different lengths"),
        (("X=[[1, 2", "w=1,1", "y=1"), 2, "is not a value for 'X'"),
        (("X=" + "[" * 100_000, "w=1,1", "y=1"), 2, "is not a value for 'X'"),
        (("X=[[1, 'a']]", "w=1,1", "y=1"), 2, "is not a value for 'X'"),
        (("X=1,2", "w=1,1", "y=1"), 1, "input 'X' has shape (2,)"),
        (("X=[[1, 2]]", "w=1,1,1", "y=1"), 1, "w : real[2]"),
        (
            ("X=[[1, 2]]", "w=1,1", "y=1,2"),
            1,
            "size n is 1 in 'X' of shape (1, 2) and 2 in 'y' of shape (2,)",
        ),
        (("X=data.npz:Z", "w=1,1", "y=1"), 2, "has no array 'Z'"),
        (("X=no.npz", "w=1,1", "y=1"), 3, "no.npz"),
        (
            ("X=[[1, 2]]", "w=1,1", "y=1", "-o", "o.csv"),
            2,
            "loss (), dloss_dX (1, 2), dloss_dw (2,), dloss_dy (1,)",
        ),
    ],
)
def test_bad_values_of_arrays(call, tmp_path, args, code, text):
    np.savez(tmp_path / "data.npz", X=[[1.0, 2]])
    result = call("run", _LINE, *args)
    assert (result.exit_code, "Traceback" in result.output) == (code, False), result.output
    assert text in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["data.npz"]


def test_a_result_may_be_called_file(call, tmp_path):
    assert call("run", "x : real\nfile = x**2", "x=3", "--no-gradient", "-o", "o.npz").exit_code == 0
    with np.load(tmp_path / "o.npz") as arrays:
        assert arrays["file"] == 9


@pytest.mark.parametrize("b", ["1,0,1", "[1, 0, 1]", "True,False,True"])
def test_conditions_may_be_given_as_zeros_and_ones(call, b):
    program = "b : bool[m]; x : real[m]; s = sum(where(b, x, 0))"
    assert "s = 5.0" in call("run", program, f"b={b}", "x=1,2,4", "--wrt", "x").stdout


def test_other_numbers_are_no_conditions(call):
    program = "b : bool[m]; x : real[m]; s = sum(where(b, x, 0))"
    result = call("run", program, "b=1,2", "x=1,2", "--wrt", "x")
    assert (result.exit_code, "declared bool" in result.stderr) == (1, True)


def test_a_document_of_latex_has_a_page_that_holds_its_rows(call, tmp_path):
    long = "+".join(f"coefficient_{k}*sin({k}*x)" for k in range(1, 12))
    declared = ", ".join(f"coefficient_{k}" for k in range(1, 12))
    text = f"x, {declared} : real\ny = {long}"
    found = call("derive", "-", "--wrt", "x,coefficient_1", "--format", "latex", "--standalone", stdin=text)
    assert found.exit_code == 0, found.output
    assert r"\begin{align*}" in found.stdout
    assert "aligned" not in found.stdout
    assert int(re.search(r"paperwidth=(\d+)cm", found.stdout)[1]) > 30
    short = call("derive", "x : real\ny = x**2", "--format", "latex", "--standalone")
    assert "paperwidth=21cm" in short.stdout
    if shutil.which("pdflatex") is None:
        return
    for k, document in enumerate((found.stdout, short.stdout)):
        (tmp_path / f"{k}.tex").write_text(document, encoding="utf-8")
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{k}.tex"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        assert b"Overfull" not in done.stdout


def test_a_document_is_one_of_latex(call):
    found = call("derive", "x : real\ny = x**2", "--standalone")
    assert found.exit_code == 2
    assert "--format latex" in found.output


def test_derive_reads_latex_and_says_how(call):
    done = call("derive", "--latex", r"\sin x y", "--wrt", "x")
    assert done.stdout == "d/dx = y*cos(x*y)\n"
    assert r"\sin x y is read as sin(x*y); otherwise: --read arguments=factor" in done.stderr
    declared = ("--declare", "X : real[n, d]; y : real[n]; w : real[d]")
    done = call("derive", "--latex", r"\frac{1}{2} \|X w - y\|_2^2", *declared, "--wrt", "w")
    assert done.stdout == "d/dw = X.T@(X@w - y)\n"
    wrong = call("derive", "--latex", r"\frac{x")
    assert (wrong.exit_code, wrong.stderr.partition("\n")[0]) == (1, "symgrad: this '{' is never closed")
    wrong = call("derive", "x", "--declare", "x : real")
    assert wrong.exit_code == 2
    assert "add --latex" in wrong.stderr
