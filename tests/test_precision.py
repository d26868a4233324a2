"""Numbers that were float32 are told from others, and so is how far differences may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastboot as fb
from fastboot.precision import DOUBLE, digits_of, epsilon_of, reach

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SINGLE = float(np.finfo(np.float32).eps)
F32 = np.array([0.1, 0.3, 16_777_215.0], np.float32)
TENTHS_A, TENTHS_B = np.random.default_rng(5).integers(0, 11, (2, 40)) / 10


def single(values: Floats) -> NDArray[np.float32]:
    """Return numbers as a model gives them."""
    return values.astype(np.float32)


@pytest.mark.parametrize("values", [
    [0.1, 0.7, 1 / 3], [0.0, 1.0, -1.0], [0.5, 0.25, 0.0625], [16_777_215.0, 1e6, 3.0],
    [np.nan, np.inf, 0.3], [1e300, 5e-324], [1e6 + 0.5, 0.5],
    [0.1, float(np.float32(0.1))],
])  # fmt: skip
def test_epsilon_of__float64(values: list[float]) -> None:
    """Doubles, whole numbers and short fractions are not taken for float32."""
    assert DOUBLE == epsilon_of(digits_of(np.array(values)))


@pytest.mark.parametrize("values", [[0.1], [0.5, 0.7, 0.0], [1.0, 16_777_215.0, 1e-3], [-0.3, 0.6]])
def test_epsilon_of__float32(values: list[float]) -> None:
    """What float32 rounded is told, beside what it need not round."""
    rounded = np.array(values, np.float32).astype(float)
    assert SINGLE == epsilon_of(digits_of(rounded))
    assert SINGLE == epsilon_of(digits_of(rounded) | digits_of(np.array([2.0, 0.5])))


@given(st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0, 2.0**40 + 1, *map(float, F32)]), min_size=2),
       st.data())  # fmt: skip
def test_epsilon_of__blocks(values: list[float], data: st.DataObject) -> None:
    """The digits of blocks together say the same as those of the whole."""
    cut = data.draw(st.integers(1, len(values) - 1))
    whole = np.array(values)
    together = digits_of(whole[:cut]) | digits_of(whole[cut:])
    assert epsilon_of(digits_of(whole)) == epsilon_of(together)


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=50), st.integers(-60, 60))
def test_reach__holds_what_was_meant(tenths: list[int], exponent: int) -> None:
    """No difference of scores in tenths is farther from its own number than its reach."""
    k = np.array(tenths)
    for kind, epsilon in ((np.float64, DOUBLE), (np.float32, SINGLE)):
        a, b = (k / 10).astype(kind).astype(float), (k[::-1] / 10).astype(kind).astype(float)
        assume(epsilon == epsilon_of(digits_of(a)))  # not where all are whole or halves
        # Exact but for a rounding of a double, far below that of a float32.
        off = np.abs((a - b) - (k - k[::-1]) / 10) - DOUBLE * np.abs(k - k[::-1]) / 10
        assert (off <= reach(a, b)).all()
        assert (reach(a, b)[a == b] == 0.0).all()
        assert np.array_equal(reach(a, b, exponent), np.ldexp(reach(a, b), -exponent))


@pytest.mark.parametrize("test", [fb.signed_rank_test, fb.sign_test])
def test_companions__ties_of_float32(test: object) -> None:
    """Ranks and signs of scores with one digit are the same in either precision."""
    assert callable(test)
    expected = test(TENTHS_A, TENTHS_B)
    found = test(single(TENTHS_A), single(TENTHS_B))
    assert expected.pvalue == found.pvalue


@pytest.mark.parametrize("groups", [None, np.arange(9) // 2])
def test_paired_t_test__equal_differences_of_float32(groups: object) -> None:
    """Differences of a tenth each do not vary, whatever float32 makes of them."""
    b = np.arange(9) / 10
    assert np.unique(single(b + 0.1) - single(b)).size > 1
    found = fb.paired_t_test(single(b + 0.1), single(b), groups=groups)
    assert found.standard_error == 0.0
    expected = fb.paired_t_test(b + 0.1, b, groups=groups)
    assert str(expected.t) == str(found.t)


def test_t_test__precision_is_that_of_all_rows() -> None:
    """Rows of doubles behind rows that could be float32: the differences do vary."""
    b = np.concatenate([single(np.arange(9) / 10).astype(float), np.full(20_000, 1 / 3)])
    a = b + np.concatenate([single(np.full(9, 0.1)) + 1e-8, np.full(20_000, 0.1)])
    assert fb.paired_t_test(a, b).standard_error > 0.0
    assert fb.paired_bootstrap(a, b, rng=0, n_resamples=100).standard_error > 0.0


@pytest.mark.parametrize("statistic", [
    lambda x: fb.combine(np.exp, fb.mean(x)), lambda x: fb.combine(np.exp, fb.mean(40.0 * x)),
    fb.std, fb.skewness, lambda x: fb.combine(lambda m, s: m / s, fb.mean(x), fb.std(x)),
])  # fmt: skip
def test_rounding__of_curved_functions(statistic: Any) -> None:
    """Slopes are taken where the sums are, however coarse the scores: replicates keep theirs."""
    x = np.random.default_rng(0).random(1_000)
    fine, coarse = (
        fb.bootstrap(statistic(one), rng=0, n_resamples=99) for one in (x, single(x).astype(float))
    )
    assert coarse.standard_error == pytest.approx(fine.standard_error, rel=1e-4)
    # 2**29 times the roundings of the terms, which are four of at least as many.
    assert fine.rounding < coarse.rounding <= 2.0**29 * fine.rounding
