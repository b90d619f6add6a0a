"""Call kernels: by shortcuts past NumPy, or through NumPy after checks. Open `called.py` first.

The promise of the shortcuts (`direct.py`, `numbers.py`, `team.py`, `output_pool.py`, and the gufunc before the checks):

- the results are those of the ufunc: the same bits, types, shapes and arrays;
- a shortcut takes only arguments that it knows, and declines all others before it has any effect;
- errors are those of the calls through NumPy, since a call that fails is declined;
- outputs may be inputs; other overlaps are declined;
- no array that the caller still refers to, in whatever way, is used again;
- a large call releases the GIL, and no thread writes any more when a call returns.

The switch: `SYMGRAD_SAFE_CALLS=1` turns all off that read fields of objects, and so does an object that is not laid out
as the table says (`safety.py`). What each saves: `docs/decisions/0033-calls-past-numpy.md`.
"""
