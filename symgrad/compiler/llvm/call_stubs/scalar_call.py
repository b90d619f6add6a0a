"""The stub of calls with numbers: it reads Python's numbers, computes one point, and returns numbers.

For one point NumPy's dispatch takes fifty times as long as the formula. The stub reads the value inside a Python float,
calls the function of one point, and creates the results. It passes all other arguments on to a fallback.
"""

from __future__ import annotations

from symgrad.compiler.llvm.call_stubs.object_layout import OBJECT_FIELDS
from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.scratch_memory import SCRATCH, SCRATCH_DECLARATIONS
from symgrad.compiler.llvm.text.templates import fill_template, load_fields

CALL = "number.call"
"""The function: ``PyObject *(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)``. `self` is a
tuple: a bytes object with `INFO`, followed by the kind of every argument, inputs first; the fallback for all other
arguments, or None to return None; and an object to keep alive.
"""

INFO = (
    ("loop", "ptr"),  # the function of a point: called as an inner loop, for one element
    ("passed", "ptr"),  # its last argument
    ("nin", "i64"),
    ("nout", "i64"),
    ("float", "ptr"),  # types: Python's float and int, NumPy's double
    ("double", "ptr"),
    ("whole", "ptr"),
    ("none", "ptr"),
    ("true", "ptr"),
    ("false", "ptr"),
    ("result", "ptr"),  # the type of results: Python's float or NumPy's double
    ("result.true", "ptr"),
    ("result.false", "ptr"),
    ("keep", "ptr"),  # functions of Python: Py_IncRef, Py_DecRef
    ("drop", "ptr"),
    ("as.double", "ptr"),  # PyFloat_AsDouble
    ("error", "ptr"),  # PyErr_Occurred
    ("forget", "ptr"),  # PyErr_Clear
    ("new.float", "ptr"),  # PyFloat_FromDouble
    ("new.object", "ptr"),  # PyType_GenericAlloc
    ("new.tuple", "ptr"),  # PyTuple_New
    ("call", "ptr"),  # PyObject_Vectorcall
)

DOUBLE, SINGLE, BOOL = 0, 1, 2
"""Kinds of arguments."""

_OBJECT_FIELDS = ("type", "float", "double", "items", "bytes")

_TEXT = """\
define ptr @number.call(ptr %self, ptr %args, i64 %given, ptr %names) #0 {
entry:
  %self.items = getelementptr i8, ptr %self, i64 ${items}
  %info.object = load ptr, ptr %self.items
  %otherwise.at = getelementptr ptr, ptr %self.items, i64 1
  %otherwise = load ptr, ptr %otherwise.at
  %info = getelementptr i8, ptr %info.object, i64 ${bytes}
${fields}
  %kinds = getelementptr i64, ptr %info, i64 ${kinds}
  %all = icmp eq i64 %given, %nin
  %unnamed = icmp eq ptr %names, null
  %plain = and i1 %all, %unnamed
  br i1 %plain, label %tables, label %decline
tables:
  %nargs = add i64 %nin, %nout
  %dimension = alloca i64
  %table = mul i64 %nargs, 8
  %scratch.size = mul i64 %nargs, 24
${scratch}  %values = getelementptr i8, ptr %scratch, i64 0
  %places = getelementptr i8, ptr %values, i64 %table
  %steps = getelementptr i8, ptr %places, i64 %table
  store i64 1, ptr %dimension
  br label %argument

argument:
  %k = phi i64 [ 0, %scratch.ready ], [ %k.next, %placed ]
  %value.at = getelementptr i64, ptr %values, i64 %k
  %place.at = getelementptr ptr, ptr %places, i64 %k
  store ptr %value.at, ptr %place.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  store i64 0, ptr %step.at
  %input = icmp slt i64 %k, %nin
  br i1 %input, label %read, label %placed
read:
  %object.at = getelementptr ptr, ptr %args, i64 %k
  %object = load ptr, ptr %object.at
  %kind.at = getelementptr i8, ptr %kinds, i64 %k
  %kind = load i8, ptr %kind.at
  %is.truth = icmp eq i8 %kind, ${truth}
  br i1 %is.truth, label %truth, label %number
truth:
  %yes = icmp eq ptr %object, %true
  %no = icmp eq ptr %object, %false
  %either = or i1 %yes, %no
  %bit = zext i1 %yes to i8
  store i8 %bit, ptr %value.at
  br i1 %either, label %placed, label %leave
number:
  %type.at = getelementptr i8, ptr %object, i64 ${type}
  %type = load ptr, ptr %type.at
  %is.float = icmp eq ptr %type, %float
  %is.double = icmp eq ptr %type, %double
  %is.read = or i1 %is.float, %is.double
  br i1 %is.read, label %floating, label %other
floating:
  %shift = select i1 %is.float, i64 ${float}, i64 ${double}
  %held.at = getelementptr i8, ptr %object, i64 %shift
  %held = load double, ptr %held.at
  br label %known
other:
  %is.whole = icmp eq ptr %type, %whole
  br i1 %is.whole, label %convert, label %leave
convert:
  %converted = call double %as.double(ptr %object)
  %suspect = fcmp oeq double %converted, -1.0
  br i1 %suspect, label %check, label %known
check:
  %raised = call ptr %error()
  %fine = icmp eq ptr %raised, null
  br i1 %fine, label %known, label %too.large
too.large:
  call void %forget()
  br label %leave
known:
  %x = phi double [ %held, %floating ], [ %converted, %convert ], [ %converted, %check ]
  %is.single = icmp eq i8 %kind, ${single}
  br i1 %is.single, label %rounded, label %exactly
rounded:
  %short = fptrunc double %x to float
  store float %short, ptr %value.at
  br label %placed
exactly:
  store double %x, ptr %value.at
  br label %placed
placed:
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %argument, label %compute

compute:
  call void %loop(ptr %places, ptr %dimension, ptr %steps, ptr %passed)
  %only = icmp eq i64 %nout, 1
  br i1 %only, label %outputs, label %several
several:
  %tuple = call ptr %new.tuple(i64 %nout)
  %made = icmp ne ptr %tuple, null
  br i1 %made, label %outputs, label %failed
outputs:
  %results = phi ptr [ null, %compute ], [ %tuple, %several ]
  %to = getelementptr i8, ptr %results, i64 ${items}
  br label %output
output:
  %o = phi i64 [ 0, %outputs ], [ %o.next, %item ]
  %at = add i64 %nin, %o
  %out.at = getelementptr i64, ptr %values, i64 %at
  %out.kind.at = getelementptr i8, ptr %kinds, i64 %at
  %out.kind = load i8, ptr %out.kind.at
  switch i8 %out.kind, label %of.doubles [ i8 ${truth}, label %of.truths
                                           i8 ${single}, label %of.singles ]
of.truths:
  %out.bit = load i8, ptr %out.at
  %out.yes = icmp ne i8 %out.bit, 0
  %out.truth = select i1 %out.yes, ptr %result.true, ptr %result.false
  call void %keep(ptr %out.truth)
  br label %put
of.singles:
  %out.short = load float, ptr %out.at
  %out.long = fpext float %out.short to double
  br label %make
of.doubles:
  %out.double = load double, ptr %out.at
  br label %make
make:
  %y = phi double [ %out.long, %of.singles ], [ %out.double, %of.doubles ]
  %of.python = icmp eq ptr %result, %float
  br i1 %of.python, label %make.float, label %make.double
make.float:
  %new.float.object = call ptr %new.float(double %y)
  %float.there = icmp ne ptr %new.float.object, null
  br i1 %float.there, label %put, label %abandoned
make.double:
  %new.double.object = call ptr %new.object(ptr %result, i64 0)
  %double.there = icmp ne ptr %new.double.object, null
  br i1 %double.there, label %fill, label %abandoned
fill:
  %content = getelementptr i8, ptr %new.double.object, i64 ${double}
  store double %y, ptr %content
  br label %put
put:
  %new = phi ptr [ %out.truth, %of.truths ], [ %new.float.object, %make.float ], [ %new.double.object, %fill ]
  br i1 %only, label %returned, label %item
item:
  %item.at = getelementptr ptr, ptr %to, i64 %o
  store ptr %new, ptr %item.at
  %o.next = add i64 %o, 1
  %o.more = icmp slt i64 %o.next, %nout
  br i1 %o.more, label %output, label %returned
returned:
  %returned.object = phi ptr [ %results, %item ], [ %new, %put ], [ null, %failed ]
  call void @free(ptr %heap)
  ret ptr %returned.object
abandoned:
  br i1 %only, label %failed, label %dropped
dropped:
  call void %drop(ptr %results)
  br label %failed
failed:
  br label %returned

leave:
  call void @free(ptr %heap)
  br label %decline
exhausted:
  br label %decline
decline:
  %silent = icmp eq ptr %otherwise, %none
  br i1 %silent, label %nothing, label %hand.on
nothing:
  call void %keep(ptr %none)
  ret ptr %none
hand.on:
  %answer = call ptr %call(ptr %otherwise, ptr %args, i64 %given, ptr %names)
  ret ptr %answer
}
"""


def module_text() -> str:
    """Return the module, for the layout of objects in `object_layout.py`."""
    parts = {
        "fields": load_fields("%info", INFO),
        "kinds": len(INFO),
        "scratch": SCRATCH,
        **{name: OBJECT_FIELDS[name].at for name in _OBJECT_FIELDS},
        "single": SINGLE,
        "truth": BOOL,
    }
    return fill_template(_TEXT, parts) + SCRATCH_DECLARATIONS + ATTRIBUTES
