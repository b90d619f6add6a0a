"""The C function of an array program: addresses and sizes are arguments, scratch memory comes from malloc."""

from __future__ import annotations

from symgrad.compiler.llvm.arrays.symbol_names import NEGATIVE, RUN, SCRATCH, TOO_LARGE
from symgrad.compiler.llvm.call_stubs.file_query import about_function
from symgrad.compiler.llvm.text.module import Module
from symgrad.compiler.llvm.text.templates import fill_template

_ENTRY = """\
define i32 @${name}(${parameters}) #0 {
  %args = alloca [${nargs} x ptr]
  %sizes = alloca [${nsizes} x i64]
${stores}
  %need = call i64 @${scratch}(ptr %sizes)
  %negative = icmp eq i64 %need, ${negative}
  br i1 %negative, label %refuse, label %measure
refuse:
  ret i32 2
measure:
  %beyond = icmp eq i64 %need, ${too.large}
  br i1 %beyond, label %exhausted, label %allocate
allocate:
  %whole = call i64 @llvm.uadd.sat.i64(i64 %need, i64 64)
  %block = call ptr @malloc(i64 %whole)
  %none = icmp eq ptr %block, null
  br i1 %none, label %exhausted, label %run
exhausted:
  ret i32 1
run:
  %address = ptrtoint ptr %block to i64
  %above = add i64 %address, 63
  %aligned = and i64 %above, -64
  %scratch = inttoptr i64 %aligned to ptr
  call void @${run}(ptr %args, ptr %sizes, ptr %scratch)
  call void @free(ptr %block)
  ret i32 0
}
declare i64 @llvm.uadd.sat.i64(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
"""


def add_c_function(
    module: Module,
    name: str,
    inputs: int,
    sizes: int,
    outputs: int,
    *,
    about: str = "",
    arguments: int = 0,
) -> Module:
    """Return the module of a program with ``int name(in..., int64_t size..., out...)`` as its only external function.

    The function returns 0; 1 if memory is exhausted or an array would have 2**60 entries or more; 2 if a named or
    computed size is negative. Matrix products call the BLAS that the object is linked with.

    Args:
        module: the program, whose functions are internal.
        name: the name of the function.
        inputs: the number of inputs.
        sizes: the number of named sizes.
        outputs: the number of outputs.
        about: the name of the function that returns the addresses of the program and of its scratch function
            (`compiler/llvm/call_stubs/file_query.py`); empty for none.
        arguments: its answer about the arguments.
    """
    nargs = inputs + outputs
    parameters = [f"ptr %a{k}" for k in range(inputs)]
    parameters += [f"i64 %n{k}" for k in range(sizes)]
    parameters += [f"ptr %a{k}" for k in range(inputs, nargs)]
    stores: list[str] = []
    for k in range(nargs):
        stores.append(f"  %args.{k} = getelementptr ptr, ptr %args, i64 {k}")
        stores.append(f"  store ptr %a{k}, ptr %args.{k}")
    for k in range(sizes):
        stores.append(f"  %sizes.{k} = getelementptr i64, ptr %sizes, i64 {k}")
        stores.append(f"  store i64 %n{k}, ptr %sizes.{k}")
    parts = {
        "name": name,
        "parameters": ", ".join(parameters),
        "nargs": nargs,
        "nsizes": max(sizes, 1),
        "stores": "\n".join(stores),
        "scratch": SCRATCH,
        "negative": NEGATIVE,
        "too.large": TOO_LARGE,
        "run": RUN,
    }
    about_items = [about_function(about, (RUN, SCRATCH), arguments)] if about else []
    return Module([fill_template(_ENTRY, parts), *about_items, *module.items])
