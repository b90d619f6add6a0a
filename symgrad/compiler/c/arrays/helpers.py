"""Small C functions on integers, addresses and numbers that statements of array programs call."""

from __future__ import annotations

HELPERS = {
    "plus": """
INLINE int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
""",
    "minus": """
INLINE int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
""",
    "times": """
INLINE int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a*(uint64_t)b);
}
""",
    "whole": """
INLINE int64_t whole(double x) /* towards zero, what is too large as the largest there is, NaN as 0 */
{
    if (x != x)
        return 0;
    return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}
""",
    "sum_of": """
INLINE _Bool sum_of(int64_t a, int64_t b, int64_t *sum) /* whether it does not fit */
{
    const _Bool beyond = b < 0 ? a < INT64_MIN - b : a > INT64_MAX - b;
    *sum = beyond ? 0 : a + b;
    return beyond;
}
""",
    "product_of": """
INLINE _Bool product_of(int64_t a, int64_t b, int64_t *product) /* whether it does not fit */
{
    const _Bool beyond = a > 0 ? (b > 0 ? a > INT64_MAX/b : b < INT64_MIN/a)
                               : a < 0 && (b > 0 ? a < INT64_MIN/b : b < 0 && b < INT64_MAX/a);
    *product = beyond ? 0 : a*b;
    return beyond;
}
""",
    "moved": """
INLINE void *moved(void *p, int64_t bytes)
{
    return (void *)((uintptr_t)p + (uintptr_t)bytes);
}
""",
}
"""The functions by their names."""
