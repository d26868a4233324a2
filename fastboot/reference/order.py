"""The k-th smallest of n draws with replacement, without the other n - 1.

A draw is the place of a uniform number among n equal steps, so the k-th smallest draw is the place
of the k-th smallest uniform number, which has the law Beta(k, n - k + 1) [1]_. The n - k numbers
above it are independent and uniform there.

References
----------
.. [1] R. C. H. Cheng, "Generating beta variates with nonintegral shape parameters", Communications
   of the ACM 21, 1978 (algorithm BB).
"""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING

from fastboot.reference.draws import key, philox

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ORDER", "order_index", "order_pair"]

ORDER = 16


def order_index(n: int, k: int, seed: int | Sequence[int], replicate: int) -> int:
    """Draw the index, from 0, of the k-th smallest of n draws from n places.

    >>> order_index(100, 50, 0, 0)
    49
    """
    return _place(_uniform(n, k, replicate, key(seed)), n)


def order_pair(n: int, k: int, seed: int | Sequence[int], replicate: int) -> tuple[int, int]:
    """Draw the indices of the k-th and the (k + 1)-th smallest of one resample.

    >>> order_pair(100, 50, 0, 0)
    (49, 52)
    """
    words = key(seed)
    lower = _uniform(n, k, replicate, words)
    v, _ = _doubles(0, 1, replicate, words)
    upper = 1 - (1 - lower) * (1 - v) ** (1 / (n - k))
    return _place(lower, n), _place(max(lower, upper), n)


def _uniform(n: int, k: int, replicate: int, words: tuple[int, int]) -> float:
    """k-th smallest of n uniform numbers; attempt t reads the words of position t."""
    if k in {1, n}:
        u, _ = _doubles(0, 0, replicate, words)
        largest = math.pow(1 - u, 1 / n)
        return largest if k == n else 1 - largest
    a, b = sorted((k, n - k + 1))
    beta = math.sqrt((a + b - 2) / (2 * a * b - a - b))
    attempts = (_doubles(position, 0, replicate, words) for position in count())
    while True:
        u, v = next(attempts)
        if u == 0 or v == 0:
            continue
        # A log-logistic proposal for the odds, times b.
        log_ratio = beta * math.log(u / (1 - u))
        w = a * math.exp(log_ratio)
        limit = (a + 1 / beta) * log_ratio + (a + b) * math.log((a + b) / (b + w))
        if math.log(4 * u * u * v) <= limit:
            return w / (b + w) if a == k else b / (b + w)


def _doubles(
    position: int, block: int, replicate: int, words: tuple[int, int]
) -> tuple[float, float]:
    w0, w1, w2, w3 = philox((position, block, replicate, ORDER), words)
    return (w0 << 21 | w1 >> 11) * 2.0**-53, (w2 << 21 | w3 >> 11) * 2.0**-53


def _place(uniform: float, n: int) -> int:
    return min(math.floor(uniform * n), n - 1)
