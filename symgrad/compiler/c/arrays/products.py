"""Products of matrices in C: plain loops, in blocks of columns that stay in registers, and of rows that stay in caches.

The order of sums is that of the kernel's own code for moderate products
(`symgrad/compiler/llvm/arrays/library/matrix_products.py`): entries are sums of 256 products at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

from symgrad.compiler.llvm.arrays.library.scans_and_products import LOOP_LIMIT
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType

_CHUNK, _COLUMNS, _ROWS = 256, 8, 4
"""The products that are summed at a time, and the rows and columns of the block of results that is computed at once.
gcc keeps a block of this size in registers, whether there are 16 of them or 32."""

_BLOCK = """
static void ${name}(const ${real} *x, int64_t xr, int64_t xc, const ${real} *panel, int64_t terms, ${real} *sums)
{
    ${real} ${starts};
    int64_t t;
    int c;
    for (t = 0; t < terms; t++) {
        const ${real} *const y = panel + t*${columns};
${steps}    }
${ends}}
"""

_PRODUCT = """
/* z = x @ y: z has m rows and n columns, xr is the distance of rows of x, xc that of columns, and so on. */
static void ${name}(const ${real} *x, const ${real} *y, ${real} *z, int64_t m, int64_t n, int64_t k,
                    int64_t xr, int64_t xc, int64_t yr, int64_t yc, int64_t zr)
{
    enum { CHUNK = ${chunk}, COLUMNS = ${columns}, ROWS = ${rows} };
    ${real} panel[CHUNK*COLUMNS], sums[ROWS*COLUMNS];
    int64_t i, j, l, t;
    int r, c;
    if (k == 0 || (double)m*(double)n*(double)k <= ${small}) {
        for (i = 0; i < m; i++)
            for (j = 0; j < n; j++) {
                ${real} sum = 0;
                for (l = 0; l < k; l++)
                    ${step}
                z[i*zr + j] = sum;
            }
        return;
    }
    for (j = 0; j < n; j += COLUMNS) {
        const int here = n - j < COLUMNS ? (int)(n - j) : COLUMNS;
        for (l = 0; l < k; l += CHUNK) {
            const int64_t terms = k - l < CHUNK ? k - l : CHUNK;
            for (t = 0; t < terms; t++)
                for (c = 0; c < COLUMNS; c++)
                    panel[t*COLUMNS + c] = c < here ? y[(l + t)*yr + (j + c)*yc] : 0;
            for (i = 0; i < m; i += ROWS) {
                const int rows = m - i < ROWS ? (int)(m - i) : ROWS;
                const ${real} *const from = x + (i*xr + l*xc);
                if (rows == ROWS)
                    ${name}_rows(from, xr, xc, panel, terms, sums);
                else
                    for (r = 0; r < rows; r++)
                        ${name}_row(from + r*xr, xr, xc, panel, terms, sums + r*COLUMNS);
                for (r = 0; r < rows; r++)
                    for (c = 0; c < here; c++) {
                        ${real} *const at = z + ((i + r)*zr + j + c);
                        *at = l ? sums[r*COLUMNS + c] + *at : sums[r*COLUMNS + c];
                    }
            }
        }
    }
}
"""


def product_names(kernel: str) -> dict[str, str]:
    """Return the names of products in the file of a kernel, by their names in a module."""
    return {f"product.{x}{y}": f"{kernel}_product_{x}{y}" for x in "nt" for y in "nt"}


def product_text(kernel: str, used: Iterable[str], real: FloatType, *, fused: bool) -> str:
    """Return the functions.

    Args:
        kernel: the name of the kernel.
        used: the products that are called, by their names in a module.
        real: the format.
        fused: whether a product and the sum with it are rounded once, together.
    """
    fma = ("fma" if real.bits == 64 else "fmaf") if fused else ""
    name = f"{kernel}_product"
    parts = {
        "name": name,
        "real": real.c,
        "chunk": _CHUNK,
        "columns": _COLUMNS,
        "rows": _ROWS,
        "small": LOOP_LIMIT,
        "step": _add("sum", "x[i*xr + l*xc]", "y[l*yr + j*yc]", fma, real),
    }
    text = _block(f"{name}_row", 1, fma, real) + _block(f"{name}_rows", _ROWS, fma, real)
    text += fill_template(_PRODUCT, parts)
    for name in sorted(used):
        x, y = name.removeprefix("product.")
        steps = f"{'1, xs' if x == 't' else 'xs, 1'}, {'1, ys' if y == 't' else 'ys, 1'}"
        text += f"""
static void {product_names(kernel)[name]}(const {real.c} *x, const {real.c} *y, {real.c} *z, int64_t m, int64_t n,
                    int64_t k, int64_t xs, int64_t ys, int64_t zs)
{{
    {kernel}_product(x, y, z, m, n, k, {steps}, zs);
}}
"""
    return text


def _block(name: str, rows: int, fma: str, real: FloatType) -> str:
    """Return the function that multiplies some rows of x by a panel of y."""
    each = f"for (c = 0; c < {_COLUMNS}; c++)"
    steps, ends = "", ""
    for r in range(rows):
        row = f"x[{f'{r}*xr + ' if r else ''}t*xc]"
        step = _add(f"s{r}[c]", f"x{r}", "y[c]", fma, real)
        steps += f"        const {real.c} x{r} = {row};\n        {each}\n            {step}\n"
        ends += f"    {each}\n        sums[{f'{r * _COLUMNS} + ' if r else ''}c] = s{r}[c];\n"
    starts = ", ".join(f"s{r}[{_COLUMNS}] = {{0}}" for r in range(rows))
    parts = {
        "name": name,
        "real": real.c,
        "starts": starts,
        "columns": _COLUMNS,
        "steps": steps,
        "ends": ends,
    }
    unused = "" if rows > 1 else "    (void)xr;\n"
    return fill_template(_BLOCK, parts).replace("    int c;\n", f"    int c;\n{unused}", 1)


def _add(total: str, a: str, b: str, fma: str, real: FloatType) -> str:
    if fma:
        return f"{total} = {fma}({a}, {b}, {total});"
    return f"{{ const {real.c} product = {a}*{b}; {total} = {total} + product; }}"
