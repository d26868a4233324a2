"""Exact binomial draws with a bounded number of words.

Inversion below a mean of 10, transformed rejection with squeeze above (BTRS: Hormann 1993, "The
generation of binomial random variates", J. Stat. Comput. Simul. 46). The probability is a ratio of
two integers, so that complements are exact.
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import exact, kernel
from fastboot.kernels.arithmetic import exponential, log_complement, logarithm
from fastboot.kernels.philox import philox, unit_interval

__all__ = [
    "binomial", "binomial_scratch", "draw_binomials", "draw_fair_binomials", "fair_binomial",
    "fill_binomials",
]  # fmt: skip

# Below this mean BTRS does not hold (Hormann 1993, section 4).
_INVERSION_MEAN = 10.0
# P(X > 110) < 1e-70 for a mean below 10: unreachable with 53-bit uniforms.
_INVERSION_LIMIT = 110.0
# Where counting the ones of three counters of 128 bits takes as long as BTRS (bench_kernels).
_COUNTED_BITS = 384
# fc(0), ..., fc(15) of Stirling's formula, from log k! in 40 digits, where the series is not exact
# to the last digits; then a place for all others.
_FEW = 16
_TAILS_OF_FEW = np.array([
    0.08106146679532726, 0.0413406959554093, 0.02767792568499834, 0.020790672103765093,
    0.016644691189821193, 0.013876128823070748, 0.01189670994589177, 0.010411265261972096,
    0.009255462182712733, 0.00833056343336287, 0.007573675487951841, 0.00694284010720953,
    0.006408994188004207, 0.0059513701127588475, 0.005554733551962801, 0.0052076559196096404,
    np.nan,
])  # fmt: skip


@exact
def _stirling_tail(k):
    """Remainder fc(k) of Stirling's formula, as BTRS uses it.

    log k! = (k + 1/2) log(k + 1) - (k + 1) + log(2 pi)/2 + fc(k); series in 1 / (k + 1).
    """
    x = 1.0 / (k + 1.0)
    square = x * x
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - square / 1188) * square) * square) * square
    ) * x
    few = _TAILS_OF_FEW[np.int32(min(k, _FEW))]
    return few if k < _FEW else series


@exact
def _inversion(n, p, u):
    odds = p / (1.0 - p)
    probability = exponential(n * log_complement(p))
    limit = min(n, _INVERSION_LIMIT)
    k = 0.0
    while u >= probability and k < limit:
        u -= probability
        probability *= (n - k) / (k + 1.0) * odds
        k += 1.0
    return k


@exact
def _constants(n, p):
    """Of BTRS, in the names of the paper: sqrt(npq), b and a."""
    spq = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spq
    return spq, b, -0.0873 + 0.0248 * b + 0.01 * p


@exact
def _proposal(n, p, u, v):
    """Return what BTRS proposes, us, and whether the squeeze accepts: four in five at best."""
    _, b, a = _constants(n, p)
    us = 0.5 - abs(u - 0.5)
    k = np.floor((2.0 * a / us + b) * (u - 0.5) + (n * p + 0.5))
    return k, us, (us >= 0.07) & (v <= 0.92 - 4.2 / b)


@exact
def _accepts(n, p, k, us, v):
    """Tell whether BTRS accepts k. No branches: a loop vectorises."""
    spq, b, a = _constants(n, p)
    alpha = (2.83 + 5.1 / b) * spq
    m = np.floor((n + 1.0) * p)
    possible = (k >= 0.0) & (k <= n)
    k = k if possible else m
    ratio = p / (1.0 - p)
    bound = (
        (m + 0.5) * logarithm((m + 1.0) / (ratio * (n - m + 1.0)))
        + (n + 1.0) * logarithm((n - m + 1.0) / (n - k + 1.0))
        + (k + 0.5) * logarithm(ratio * (n - k + 1.0) / (k + 1.0))
        + _stirling_tail(m)
        + _stirling_tail(n - m)
        - _stirling_tail(k)
        - _stirling_tail(n - k)
    )
    below = logarithm(v * alpha / (a / (us * us) + b)) <= bound
    return possible & (below | (v == 0.0))


@exact
def _rejection(n, p, block, replicate, purpose, key_0, key_1):
    attempt = 0
    while True:
        w0, w1, w2, w3 = philox(attempt, block, replicate, purpose, key_0, key_1)
        v = unit_interval(w2, w3)
        k, us, squeezed = _proposal(n, p, unit_interval(w0, w1), v)
        if squeezed or _accepts(n, p, k, us, v):
            return k
        attempt += 1


@exact
def binomial(n, successes, total, block, replicate, purpose, key_0, key_1):
    """Return the number of successes in n trials of probability successes / total."""
    if n == 0 or successes == 0:
        return 0
    if successes == total:
        return n
    smaller = min(successes, total - successes)
    p = smaller / total
    trials = np.float64(n)
    if trials * p < _INVERSION_MEAN:
        w0, w1, _, _ = philox(0, block, replicate, purpose, key_0, key_1)
        k = np.int64(_inversion(trials, p, unit_interval(w0, w1)))
    else:
        k = np.int64(_rejection(trials, p, block, replicate, purpose, key_0, key_1))
    return k if smaller == successes else n - k


@exact
def binomial_scratch(n):
    """Return the scratch arrays of `draw_binomials` for n replicates.

    Of those that are not drawn yet: replicate, accepted, trials, and three numbers more. Arrays of
    their own: a loop over the rows of one does not vectorise.
    """
    return (
        np.empty(n, np.int32), np.empty(n, np.bool_), np.empty(n), np.empty(n), np.empty(n),
        np.empty(n),
    )  # fmt: skip


@exact
def draw_binomials(trials, successes, total, block, first, purpose, key_0, key_1, scratch, out):
    """Binomials with one probability for consecutive replicates; the draws of `binomial`.

    In loops that vectorise, over the list of the replicates that are not drawn yet: 10 ns each (14
    with AVX2) instead of 40 to 50 one by one (bench_kernels).

    trials : shape (n,), float64: whole numbers below 2**53
    scratch : of `binomial_scratch`; out : shape (n,), float64, overwritten
    """
    smaller = min(successes, total - successes)
    if smaller == 0:
        for r in range(trials.size):
            out[r] = trials[r] if successes else 0.0
        return
    p = smaller / total
    left = _list(trials, p, scratch, rejection=True)
    _reject_list(left, p, block, first, purpose, key_0, key_1, scratch, out)
    if left < trials.size:
        left = _list(trials, p, scratch, rejection=False)
        _invert_list(left, p, block, first, purpose, key_0, key_1, scratch, out)
    if smaller != successes:
        for r in range(trials.size):
            out[r] = trials[r] - out[r]


@exact
def _list(trials, p, scratch, rejection):
    """List the replicates that are drawn by rejection, or those by inversion; their number."""
    rest, _, n, _, _, _ = scratch
    left = 0
    for r in range(trials.size):
        rest[left] = r
        n[left] = trials[r]
        left += (trials[r] * p >= _INVERSION_MEAN) == rejection
    return left


@exact
def _reject_list(left, p, block, first, purpose, key_0, key_1, scratch, out):
    """As `_rejection`. Lists are shortened in place, without branches that are a gamble."""
    rest, accepted, n, k, us, v = scratch
    attempt = 0
    while left > 0:
        for i in range(left):
            w0, w1, w2, w3 = philox(attempt, block, first + rest[i], purpose, key_0, key_1)
            v[i] = unit_interval(w2, w3)
            k[i], us[i], accepted[i] = _proposal(n[i], p, unit_interval(w0, w1), v[i])
        attempt += 1
        unsqueezed = 0
        for i in range(left):
            out[rest[i]] = k[i]
            rest[unsqueezed] = rest[i]
            n[unsqueezed] = n[i]
            k[unsqueezed] = k[i]
            us[unsqueezed] = us[i]
            v[unsqueezed] = v[i]
            unsqueezed += not accepted[i]
        for i in range(unsqueezed):
            accepted[i] = _accepts(n[i], p, k[i], us[i], v[i])
        left = 0
        for i in range(unsqueezed):
            out[rest[i]] = k[i]
            rest[left] = rest[i]
            n[left] = n[i]
            left += not accepted[i]


@exact
def _invert_list(left, p, block, first, purpose, key_0, key_1, scratch, out):
    """As `_inversion`, all replicates one step at a time."""
    rest, _, n, k, u, probability = scratch
    for i in range(left):
        w0, w1, _, _ = philox(0, block, first + rest[i], purpose, key_0, key_1)
        u[i] = unit_interval(w0, w1)
        probability[i] = exponential(n[i] * log_complement(p))
        k[i] = 0.0
    odds = p / (1.0 - p)
    step = 0.0
    going = left > 0
    while going and step < _INVERSION_LIMIT:
        going = False
        for i in range(left):
            above = (u[i] >= probability[i]) & (step < n[i])
            u[i] -= probability[i] if above else 0.0
            probability[i] *= (n[i] - step) / (step + 1.0) * odds if above else 1.0
            k[i] += 1.0 if above else 0.0
            going |= above
        step += 1.0
    for i in range(left):
        out[rest[i]] = k[i]


@exact
def _ones(word, n):
    """Return the number of set bits among the n lowest of a 32-bit word, all where n is larger."""
    mask = (np.uint64(1) << np.uint64(min(max(n, 0), 32))) - np.uint64(1)
    w = np.uint64(word) & mask
    w -= (w >> np.uint64(1)) & np.uint64(0x55555555)
    w = (w & np.uint64(0x33333333)) + ((w >> np.uint64(2)) & np.uint64(0x33333333))
    w = (w + (w >> np.uint64(4))) & np.uint64(0x0F0F0F0F)
    return np.int64(((w * np.uint64(0x01010101)) >> np.uint64(24)) & np.uint64(0xFF))


@exact
def _heads(n, position, block, replicate, purpose, key_0, key_1):
    """Return the number of heads among the first n coins of one counter."""
    w0, w1, w2, w3 = philox(position, block, replicate, purpose, key_0, key_1)
    return _ones(w0, n) + _ones(w1, n - 32) + _ones(w2, n - 64) + _ones(w3, n - 96)


@exact
def fair_binomial(n, block, replicate, purpose, key_0, key_1):
    """Return the number of heads in n fair coins: counted bits while n is small."""
    if n > _COUNTED_BITS:
        return binomial(n, 1, 2, block, replicate, purpose, key_0, key_1)
    heads = np.int64(0)
    for position in range((n + 127) // 128):
        heads += _heads(n - 128 * position, position, block, replicate, purpose, key_0, key_1)
    return heads


@exact
def draw_fair_binomials(n, block, first, purpose, key_0, key_1, trials, scratch, out):
    """Heads in n fair coins for consecutive replicates; the draws of `fair_binomial`.

    trials : shape of `out`, scratch; scratch : of `binomial_scratch`
    out : shape (n_replicates,), float64, overwritten
    """
    if n > _COUNTED_BITS:
        trials[:] = n
        draw_binomials(trials, 1, 2, block, first, purpose, key_0, key_1, scratch, out)
        return
    out[:] = 0.0
    for position in range((n + 127) // 128):
        for r in range(out.size):
            out[r] += _heads(n - 128 * position, position, block, first + r, purpose, key_0, key_1)


@kernel
def fill_binomials(n, successes, total, block, purpose, first, key_0, key_1, out):
    """One binomial for each of consecutive replicates.

    out : shape (n_replicates,), int64, overwritten
    """
    for r in range(out.size):
        out[r] = binomial(n, successes, total, block, first + r, purpose, key_0, key_1)
