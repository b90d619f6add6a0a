"""Engines, symbols, and modules that LLVM must not accept."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm
import pytest

from symgrad.compiler.llvm.elementwise import loop
from symgrad.compiler.llvm.engine.externals import resolve
from symgrad.compiler.llvm.engine.jit import Engine, emit_assembly, emit_object
from symgrad.compiler.llvm.engine.libm import call_c
from symgrad.compiler.llvm.engine.target import host
from symgrad.errors import InternalError, KernelError

ADD = "define double @f(double %x) {\n  %y = fadd double %x, CONST\n  ret double %y\n}\n"


def module(value: float = 1.0) -> str:
    return ADD.replace("CONST", f"{value:e}")


def call(engine: Engine, value: float) -> float:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.address("f"))(value)


def test_engine_runs_and_names_are_checked():
    engine = Engine(module(2.0))
    assert call(engine, 3.0) == 5.0
    with pytest.raises(InternalError, match="does not define 'g'"):
        engine.address("g")


def test_engines_with_the_same_names_are_apart():
    engines = [Engine(module(float(i))) for i in range(5)]
    assert [call(e, 0.5) for e in engines] == [i + 0.5 for i in range(5)]


@pytest.mark.parametrize(
    "text",
    [
        "define double @f(double %x) { ret double %y }",
        "nonsense",
        # Parses, but is not verified: a value is used before it is defined.
        "define double @f() {\n  %a = fadd double %b, 1.0\n  %b = fadd double 1.0, 1.0\n  ret double %a\n}",
    ],
)
def test_bad_modules_are_refused(text):
    with pytest.raises(InternalError, match="LLVM does not accept"):
        Engine(text)
    with pytest.raises(InternalError):
        emit_object(text)


def test_an_unknown_function_is_an_error_and_not_the_end_of_the_process():
    text = "declare double @no_such_function(double)\n" + (
        "define double @f(double %x) {\n  %y = call double @no_such_function(double %x)\n  ret double %y\n}"
    )
    with pytest.raises(KernelError, match="no function 'no_such_function'"):
        Engine(text)


@pytest.mark.parametrize("suffix", ["", "f"])
def test_the_c_library_has_what_lowerings_call(suffix):
    names = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p "
    for name in (names + "pow cbrt hypot erf erfc tgamma lgamma fmod").split():
        assert resolve(name + suffix) > 0
    bits = 32 if suffix else 64
    assert call_c("sqrt" + suffix, (4.0,), bits) == 2.0
    assert call_c("pow" + suffix, (2.0, 10.0), bits) == 1024.0


def test_set_up_and_compile_in_many_threads_from_the_start():
    """In a fresh process, so that the very first use is concurrent."""
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.target import host
sys.setswitchinterval(1e-5)
text = "define double @f(double %x) {{\\n  %y = fadd double %x, {}.0\\n  ret double %y\\n}}"
with ThreadPoolExecutor(8) as pool:
    hosts = set(pool.map(lambda _: id(host()), range(32)))
    list(pool.map(lambda i: Engine(text.format(i)).address("f"), range(64)))
print(len(hosts))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_importing_symgrad_does_not_load_llvm():
    modules = "symgrad, symgrad.ir.graph, symgrad.compiler.lowering.elementwise.schedule"
    code = f"import sys, {modules}; print('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_assembly_and_object_of_the_driver():
    text = loop.driver()
    assert "ufunc.loop" in emit_assembly(text)
    assert emit_object(text, "baseline")[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe", emit_object(text)[:4])
    assert host().target.vector_bytes in (16, 32, 64)
    assert host().target_of("baseline").vector_bytes == 16


def test_collection_in_threads():
    def churn(i: int) -> float:
        return call(Engine(module(float(i))), 1.0)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(churn, range(50))) == [i + 1.0 for i in range(50)]


@pytest.mark.parametrize("taken", range(0, 24, 3))
def test_ctrl_c_as_llvmlite_takes_its_lock_leaves_it_free(taken):
    """llvmlite calls back when it has the lock, and before it is ready to give it back."""
    count = 0
    raised = False

    def interrupt() -> None:
        nonlocal count, raised
        count += 1
        # What is raised while Python lets go of an object is printed, and the program goes on.
        letting_go = any(frame.name == "__del__" for frame in traceback.extract_stack())
        if count > taken and not raised and not letting_go:
            raised = True
            raise KeyboardInterrupt

    def nothing() -> None:
        pass

    llvm.ffi.register_lock_callback(interrupt, nothing)
    try:
        with pytest.raises(KeyboardInterrupt):
            Engine(module()).address("f")
    finally:
        llvm.ffi.unregister_lock_callback(interrupt, nothing)
    found: list[float] = []
    worker = threading.Thread(target=lambda: found.append(call(Engine(module(2.0)), 1.0)), daemon=True)
    worker.start()
    worker.join(20)
    assert found == [3.0]
