"""Factors of matrices, solutions and exponentials in C, as plain loops; kernels in memory call LAPACK instead.

Exponentials have the operations of `symgrad/compiler/llvm/arrays/library/matrix_exponential.py`, in the same order.

Matrices are stored by columns, as in LAPACK. The pivot of a column is its largest entry. The row exchanges are stored
after the factors, as 32-bit integers that count from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symgrad.compiler.c.arrays.products import product_names
from symgrad.compiler.c.statements import number
from symgrad.compiler.llvm.arrays.library.matrix_exponential import COEFFICIENTS, MAX_ROW_SUM
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.compiler.llvm.text.types import FloatType

_EXCHANGE = """
static int32_t ${name}_exchange(const ${real} *lu, int64_t n, int64_t i)
{
    int32_t row;
    memcpy(&row, (const unsigned char *)(lu + n*n) + i*(int64_t)sizeof row, sizeof row);
    return row;
}
"""

_LU = """
static void ${name}_lu(const ${real} *x, ${real} *lu, int64_t n)
{
    int64_t i, j, k;
    for (i = 0; i < n*n; i++)
        lu[i] = x[i];
    for (k = 0; k < n; k++) {
        ${real} *const column = lu + k*n;
        int64_t p = k;
        int32_t row;
        for (i = k + 1; i < n; i++)
            if (${abs}(column[i]) > ${abs}(column[p]))
                p = i;
        row = (int32_t)(p + 1);
        memcpy((unsigned char *)(lu + n*n) + k*(int64_t)sizeof row, &row, sizeof row);
        if (column[p] == 0)
            continue;
        if (p != k)
            for (j = 0; j < n; j++) {
                const ${real} kept = lu[k + j*n];
                lu[k + j*n] = lu[p + j*n];
                lu[p + j*n] = kept;
            }
        for (i = k + 1; i < n; i++)
            column[i] = column[i]/column[k];
        for (j = k + 1; j < n; j++) {
            const ${real} factor = lu[k + j*n];
            for (i = k + 1; i < n; i++) {
                const ${real} product = column[i]*factor;
                lu[i + j*n] = lu[i + j*n] - product;
            }
        }
    }
}
"""

_PIVOTS = """
static void ${name}_pivots(const ${real} *lu, ${real} *out, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        out[i] = ${name}_exchange(lu, n, i) == i + 1 ? lu[i*n + i] : -lu[i*n + i];
}
"""

_SOLVE = """
static void ${name}_solve(const ${real} *lu, const ${real} *rows, ${real} *out, int64_t n, int64_t k, int64_t way)
{
    int64_t i, j, c;
    int singular = 0;
    for (i = 0; i < n; i++)
        singular |= lu[i*n + i] == 0;
    for (i = 0; i < n*k; i++)
        out[i] = singular ? (${real})NAN : rows[i];
    if (singular)
        return;
    for (c = 0; c < k; c++) {
        ${real} *const x = out + c*n;
        if (way == 'N') {
            for (i = 0; i < n; i++)
                ${name}_swap(x, i, ${name}_exchange(lu, n, i) - 1);
            for (j = 0; j < n; j++)
                for (i = j + 1; i < n; i++) {
                    const ${real} product = lu[i + j*n]*x[j];
                    x[i] = x[i] - product;
                }
            for (j = n - 1; j >= 0; j--) {
                x[j] = x[j]/lu[j + j*n];
                for (i = 0; i < j; i++) {
                    const ${real} product = lu[i + j*n]*x[j];
                    x[i] = x[i] - product;
                }
            }
        } else {
            for (j = 0; j < n; j++) {
                for (i = 0; i < j; i++) {
                    const ${real} product = lu[i + j*n]*x[i];
                    x[j] = x[j] - product;
                }
                x[j] = x[j]/lu[j + j*n];
            }
            for (j = n - 1; j >= 0; j--)
                for (i = j + 1; i < n; i++) {
                    const ${real} product = lu[i + j*n]*x[i];
                    x[j] = x[j] - product;
                }
            for (i = n - 1; i >= 0; i--)
                ${name}_swap(x, i, ${name}_exchange(lu, n, i) - 1);
        }
    }
}
"""

_SWAP = """
static void ${name}_swap(${real} *x, int64_t i, int64_t j)
{
    const ${real} kept = x[i];
    x[i] = x[j];
    x[j] = kept;
}
"""

_CHOLESKY = """
static void ${name}_cholesky(const ${real} *x, ${real} *out, int64_t n)
{
    int64_t i, j, k;
    int definite = 1;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            out[i*n + j] = j <= i ? x[i*n + j] : 0;
    for (j = 0; j < n; j++)
        for (i = j; i < n; i++) {
            ${real} rest = out[i*n + j];
            for (k = 0; k < j; k++) {
                const ${real} product = out[i*n + k]*out[j*n + k];
                rest = rest - product;
            }
            if (i == j)
                definite &= rest > 0;
            out[i*n + j] = i == j ? ${sqrt}(rest) : rest/out[j*n + j];
        }
    if (!definite)
        for (i = 0; i < n*n; i++)
            out[i] = (${real})NAN;
}
"""

_TRIANGULAR_SOLVE = """
static void ${name}_triangular(const ${real} *l, const ${real} *rows, ${real} *out, int64_t n, int64_t k, int64_t way)
{
    int64_t i, j, c;
    int singular = 0;
    for (i = 0; i < n; i++)
        singular |= l[i*n + i] == 0;
    for (c = 0; c < k; c++) {
        ${real} *const x = out + c*n;
        for (j = 0; j < n; j++) {
            const int64_t row = way == 'N' ? n - 1 - j : j;
            ${real} rest = singular ? (${real})NAN : rows[c*n + row];
            for (i = 0; i < j; i++) {
                const int64_t before = way == 'N' ? n - 1 - i : i;
                const ${real} product = (way == 'N' ? l[before*n + row] : l[row*n + before])*x[before];
                rest = rest - product;
            }
            x[row] = rest/l[row*n + row];
        }
    }
}
"""

_EXPONENTIAL = """
/* to = k*of + c[0] + c[1]*a + c[2]*a2 + c[3]*a3 */
static void ${name}_terms(${real} *to, const ${real} *of, const ${real} *a, const ${real} *a2, const ${real} *a3,
                    int64_t n, ${real} k, const ${real} *c)
{
    int64_t i, diagonal = 0;
    for (i = 0; i < n*n; i++) {
        const ${real} t0 = k*of[i], t1 = c[1]*a[i], t2 = c[2]*a2[i], t3 = c[3]*a3[i];
        const ${real} s3 = t3 + t2, s2 = s3 + t1, s1 = s2 + (i == diagonal ? c[0] : 0);
        to[i] = s1 + t0;
        if (i == diagonal)
            diagonal += n + 1;
    }
}

static void ${name}_exponential(const ${real} *x, ${real} *out, int64_t n)
{
    static const ${real} none[4] = {0}, c[] = {
        ${coefficients}
    };
    ${real} *const t = out + n*n, *const a = t + n*n, *const a2 = a + n*n, *const a3 = a2 + n*n, *const a4 = a3 + n*n;
    ${real} norm = 0, scale = 1;
    int64_t i, j, halvings = 0;
    int k, finite = 1;
    for (i = 0; i < n; i++) {
        ${real} sum = 0;
        for (j = 0; j < n; j++)
            sum = sum + (x[i*n + j] < 0 ? -x[i*n + j] : x[i*n + j]);
        if (sum > norm)
            norm = sum;
        finite &= sum < INFINITY;
    }
    if (!finite) {
        for (i = 0; i < n*n; i++)
            out[i] = (${real})NAN;
        return;
    }
    for (; norm > ${largest}; halvings++) {
        norm = norm*${half};
        scale = scale*${half};
    }
    for (i = 0; i < n*n; i++)
        a[i] = x[i]*scale;
    ${product}(a, a, a2, n, n, n, n, n, n);
    ${product}(a2, a, a3, n, n, n, n, n, n);
    ${product}(a2, a2, a4, n, n, n, n, n, n);
    ${name}_terms(t, a4, a, a2, a3, n, c[16], c + 12);
    for (k = 8; k >= 0; k -= 4) {
        ${product}(t, a4, out, n, n, n, n, n, n);
        ${name}_terms(k ? t : out, out, a, a2, a3, n, 1, c + k);
    }
    for (i = 0; i < halvings; i++) {
        ${product}(out, out, t, n, n, n, n, n, n);
        ${name}_terms(out, t, a, a2, a3, n, 1, none);
    }
}
"""

FACTORS_IN_C = {
    "factors.lu": ("lu", _LU),
    "factors.pivots": ("pivots", _PIVOTS),
    "factors.lu_solve": ("solve", _SWAP + _SOLVE),
    "factors.cholesky_factor": ("cholesky", _CHOLESKY),
    "factors.triangular_solve": ("triangular", _TRIANGULAR_SOLVE),
    "factors.exponential": ("exponential", _EXPONENTIAL),
}
"""Functions by their names in a module: the name in C, and the text."""

_PRODUCT = "product.nn"
CALLED_BY_FACTORS = {"factors.exponential": (_PRODUCT,)}
"""The names of the matrix products that the exponential calls."""


def factor_names(kernel: str) -> dict[str, str]:
    """Return the names of the functions in the file of a kernel, by their names in a module."""
    return {name: f"{kernel}_factors_{own}" for name, (own, _) in FACTORS_IN_C.items()}


def factors_text(kernel: str, used: Iterable[str], real: FloatType) -> str:
    """Return the functions.

    Args:
        kernel: the name of the kernel.
        used: the called functions, by their names in a module.
        real: the format.
    """
    single = real.bits == 32

    def text_of(value: float | Fraction) -> str:
        return number(float(real.round(value)), single)

    parts = {
        "name": f"{kernel}_factors",
        "real": real.c,
        "abs": "fabsf" if single else "fabs",
        "sqrt": "sqrtf" if single else "sqrt",
        "product": product_names(kernel)[_PRODUCT],
        "coefficients": ",\n        ".join(
            ", ".join(map(text_of, COEFFICIENTS[k : k + 4])) for k in range(0, 17, 4)
        ),
        "largest": text_of(MAX_ROW_SUM),
        "half": text_of(0.5),
    }
    texts = [FACTORS_IN_C[name][1] for name in sorted(used)]
    if any("_exchange(" in text for text in texts):
        texts.insert(0, _EXCHANGE)
    text = "".join(texts)
    return fill_template(text, {part: value for part, value in parts.items() if f"${{{part}}}" in text})
