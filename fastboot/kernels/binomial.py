"""Exact binomial draws with a bounded number of words.

Inversion below a mean of 10, transformed rejection with squeeze above (BTRS: Hormann 1993, "The
generation of binomial random variates", J. Stat. Comput. Simul. 46). The probability is a ratio of
two integers, so that complements are exact.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, kernel
from fastboot.kernels.arithmetic import exponential, log_complement, logarithm
from fastboot.kernels.philox import fill_replicates, philox, unit_interval

__all__ = ["binomial", "draw_binomials", "fair_binomial", "fill_binomials"]

# Below this mean BTRS does not hold (Hormann 1993, section 4).
_INVERSION_MEAN = 10.0
# P(X > 110) < 1e-70 for a mean below 10: unreachable with 53-bit uniforms.
_INVERSION_LIMIT = 110
# Where counting the ones of three counters of 128 bits takes as long as BTRS (bench_kernels).
_COUNTED_BITS = 384


@exact
def _stirling_tail(k):
    """Remainder fc(k) of Stirling's formula, as BTRS uses it.

    log k! = (k + 1/2) log(k + 1) - (k + 1) + log(2 pi)/2 + fc(k); series in 1 / (k + 1).
    """
    if k < 16:
        # log k! from the product, exact to the last digits where the series is not.
        product = 1.0
        for i in range(2, k + 1):
            product *= i
        x = k + 1.0
        return logarithm(product) - (k + 0.5) * logarithm(x) + x - 0.9189385332046728
    x = 1.0 / (k + 1.0)
    square = x * x
    return (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - square / 1188) * square) * square) * square
    ) * x


@exact
def _inversion(n, p, block, replicate, purpose, key_0, key_1):
    w0, w1, _, _ = philox(0, block, replicate, purpose, key_0, key_1)
    u = unit_interval(w0, w1)
    odds = p / (1.0 - p)
    probability = exponential(n * log_complement(p))
    limit = min(n, _INVERSION_LIMIT)
    k = 0
    while u >= probability and k < limit:
        u -= probability
        probability *= ((n - k) / (k + 1.0)) * odds
        k += 1
    return k


@exact
def _rejection(n, p, block, replicate, purpose, key_0, key_1):
    """BTRS, in the names of the paper."""
    q = 1.0 - p
    spq = np.sqrt(n * p * q)
    b = 1.15 + 2.53 * spq
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spq
    m = int((n + 1) * p)
    ratio = p / q
    attempt = 0
    while True:
        w0, w1, w2, w3 = philox(attempt, block, replicate, purpose, key_0, key_1)
        attempt += 1
        u = unit_interval(w0, w1) - 0.5
        v = unit_interval(w2, w3)
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = int(np.floor((2.0 * a / us + b) * u + c))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or k > n:
            continue
        if v == 0.0:
            return k
        bound = (
            (m + 0.5) * logarithm((m + 1.0) / (ratio * (n - m + 1.0)))
            + (n + 1.0) * logarithm((n - m + 1.0) / (n - k + 1.0))
            + (k + 0.5) * logarithm(ratio * (n - k + 1.0) / (k + 1.0))
            + _stirling_tail(m)
            + _stirling_tail(n - m)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if logarithm(v * alpha / (a / (us * us) + b)) <= bound:
            return k


@exact
def binomial(n, successes, total, block, replicate, purpose, key_0, key_1):
    """Return the number of successes in n trials of probability successes / total."""
    if n == 0 or successes == 0:
        return 0
    if successes == total:
        return n
    smaller = min(successes, total - successes)
    p = smaller / total
    if n * p < _INVERSION_MEAN:
        k = _inversion(n, p, block, replicate, purpose, key_0, key_1)
    else:
        k = _rejection(n, p, block, replicate, purpose, key_0, key_1)
    return k if smaller == successes else n - k


@exact
def draw_binomials(
    trials, successes, total, block, first, purpose, key_0, key_1, words, accepted, out
):
    """Binomials with one probability for consecutive replicates; the draws of `binomial`.

    Four in five are accepted by the squeeze of the first attempt, which this does for all of them
    in a loop that vectorises: 15 ns each instead of 70 (bench_kernels). The others start again.

    trials : shape (n,), float64: whole numbers
    words : shape (4, n), uint32, scratch; accepted : shape (n,), bool, scratch
    out : shape (n,), float64, overwritten
    """
    smaller = min(successes, total - successes)
    p = smaller / total
    q = 1.0 - p
    fill_replicates(0, block, first, purpose, key_0, key_1, words)
    for r in range(trials.size):
        n = trials[r]
        spq = np.sqrt(n * p * q)
        b = 1.15 + 2.53 * spq
        a = -0.0873 + 0.0248 * b + 0.01 * p
        c = n * p + 0.5
        v_r = 0.92 - 4.2 / b
        u = unit_interval(words[0, r], words[1, r]) - 0.5
        us = 0.5 - abs(u)
        k = np.floor((2.0 * a / us + b) * u + c)
        squeezed = (us >= 0.07) & (unit_interval(words[2, r], words[3, r]) <= v_r)
        accepted[r] = squeezed & (n * p >= _INVERSION_MEAN)
        out[r] = k if smaller == successes else n - k
    for r in range(trials.size):
        if not accepted[r]:
            out[r] = binomial(
                np.int64(trials[r]), successes, total, block, first + r, purpose, key_0, key_1
            )


@exact
def _ones(word):
    """Return the number of set bits of a 32-bit word."""
    w = np.uint64(word)
    w -= (w >> np.uint64(1)) & np.uint64(0x55555555)
    w = (w & np.uint64(0x33333333)) + ((w >> np.uint64(2)) & np.uint64(0x33333333))
    w = (w + (w >> np.uint64(4))) & np.uint64(0x0F0F0F0F)
    return np.int64(((w * np.uint64(0x01010101)) >> np.uint64(24)) & np.uint64(0xFF))


@exact
def fair_binomial(n, block, replicate, purpose, key_0, key_1):
    """Return the number of heads in n fair coins: counted bits while n is small."""
    if n > _COUNTED_BITS:
        return binomial(n, 1, 2, block, replicate, purpose, key_0, key_1)
    heads = np.int64(0)
    position = 0
    left = n
    while left > 0:
        words = philox(position, block, replicate, purpose, key_0, key_1)
        position += 1
        for word in words:
            if left >= 32:
                heads += _ones(word)
            elif left > 0:
                mask = (np.uint64(1) << np.uint64(left)) - np.uint64(1)
                heads += _ones(np.uint64(word) & mask)
            left -= 32
    return heads


@kernel
def fill_binomials(n, successes, total, block, purpose, first, key_0, key_1, out):
    """One binomial for each of consecutive replicates.

    out : shape (n_replicates,), int64, overwritten
    """
    for r in range(out.size):
        out[r] = binomial(n, successes, total, block, first + r, purpose, key_0, key_1)
