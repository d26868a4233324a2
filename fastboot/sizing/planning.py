"""How many items an evaluation needs, and what it can show with those it has.

===================================  ============================================================
what is known                        formula
===================================  ============================================================
`half_width`, perhaps `proportion`   normal or Wilson interval; without a proportion the worst, 1/2
`half_width`, `std`                  Student's interval of a mean
`effect`, `discordance`              exact McNemar test, or Connor (1987)
`effect`, `std_of_difference`        paired t-test (noncentral t)
`pilot_a`, `pilot_b` (power only)    experiments drawn from a pilot: :mod:`fastboot.sizing.pilots`
===================================  ============================================================

`cluster_size` and `icc` allow for items that come in groups, by the design effect (Kish 1965).
"""

from __future__ import annotations

from fastboot import power_formulas as formulas
from fastboot.arguments import Rng
from fastboot.columns import Source
from fastboot.sizing.pilots import pilot_power
from fastboot.sizing.plan_questions import (
    MCNEMAR,
    MEAN,
    PAIRED_T,
    PILOT,
    PLANS,
    PROPORTION,
    check_side,
    given_of,
    number,
    positive,
    question_of,
    whole,
)
from fastboot.sizing.plans import Power, SampleSize

__all__ = ["power", "sample_size"]


def sample_size(
    *,
    half_width: float | None = None,
    proportion: float | None = None,
    std: float | None = None,
    confidence_level: float | None = None,
    effect: float | None = None,
    discordance: float | None = None,
    std_of_difference: float | None = None,
    power: float | None = None,
    alpha: float | None = None,
    alternative: str | None = None,
    method: str | None = None,
    cluster_size: int | None = None,
    icc: float | None = None,
) -> SampleSize:
    """Return how many items an interval of a given width, or a test of a given power, needs.

    Give `half_width`, or `effect` with `discordance` or `std_of_difference`; the table of
    :mod:`fastboot.sizing` says what is asked then. Keywords that belong to another question are
    refused.

    Parameters
    ----------
    half_width
        Of a two-sided interval: estimate -+ half_width.
    proportion
        The proportion expected; None takes the worst case, 1/2.
    std
        Standard deviation of the scores, such as that of a pilot (ddof = 1). Then the interval is
        Student's of a mean.
    confidence_level
        Of the interval; None for 0.95.
    effect
        The true difference a - b that the test should show, not 0; its sign matters to a one-sided
        test only.
    discordance
        Share of items that one system answers rightly and the other wrongly, at least `effect`.
        Then the answers are 0 or 1 and the test is McNemar's.
    std_of_difference
        Standard deviation of the differences between the systems on the same item. Then the test
        is the paired t-test.
    power
        Probability of a significant result if `effect` is true; None for 0.8.
    alpha
        Level of the test; None for 0.05.
    alternative
        "two-sided", "greater" or "less"; None for "two-sided".
    method
        Of a proportion "normal" (Wald, the classic; default) or "wilson"; of 0/1 answers "exact"
        (default: the conditional test, averaged over the number of discordant items) or "connor"
        (normal approximation, Connor 1987).
    cluster_size, icc
        Items of a group (a document, a user) that are sampled together, and their intraclass
        correlation: of the scores for a half-width, of the differences for a test. Both or none.
        Degrees of freedom of t are those of groups, n_clusters - 1.

    Returns
    -------
    SampleSize
        The smallest number of items (whole groups) from which on the goal is reached.

    Raises
    ------
    TypeError
        Keywords are missing or do not belong together.
    ValueError
        A number is out of range, or a word is unknown.

    Examples
    --------
    The classic table: items for a 95 % interval of a proportion, in the worst case.

    >>> import fastboot as fb
    >>> for half_width in (0.1, 0.05, 0.03, 0.02, 0.01, 0.005):
    ...     print(f"{half_width:5.3f} {fb.sample_size(half_width=half_width).n_items:6,}")
    0.100     97
    0.050    385
    0.030  1,068
    0.020  2,401
    0.010  9,604
    0.005 38,415

    Two points of accuracy, where 15 % of the answers differ:

    >>> size = fb.sample_size(effect=0.02, discordance=0.15)
    >>> size.n_items
    3028
    >>> size.signature().split("|")[2:6]
    ['power:0.8', 'effect:0.02', 'discordance:0.15', 'alpha:0.05']
    """
    given = given_of(locals())
    questions = (MEAN, PROPORTION, MCNEMAR, PAIRED_T)
    question = question_of("sample_size", given, questions)
    plan = PLANS[question](given)
    size = given.get("cluster_size", 1)
    if question in {MEAN, PROPORTION}:
        target = positive("half_width", given["half_width"])
        found = formulas.smallest(lambda n: plan.reached(n) <= target)
    else:
        target = number("power", given.get("power", 0.8))
        formulas.check_alpha_and_power(plan.inputs["alpha"], target)
        check_side(plan.inputs["effect"], plan.inputs["alternative"])
        if plan.smallest is not None:
            found = plan.smallest(target)
        else:
            found = formulas.smallest(lambda n: plan.reached(n) >= target)
    if found is None:
        raise ValueError(f"no sample below {formulas.MOST:,} is large enough; check the numbers")
    return SampleSize(
        n_items=found * size,
        n_clusters=found,
        goal=plan.goal,
        measure="half-width" if question in {MEAN, PROPORTION} else "power",
        target=target,
        attained=plan.reached(found),
        inputs=plan.inputs,
        assumptions=plan.assumptions,
    )


def power(
    pilot_a: Source | None = None,
    pilot_b: Source | None = None,
    *,
    n_items: int,
    effect: float | None = None,
    discordance: float | None = None,
    std_of_difference: float | None = None,
    alpha: float | None = None,
    alternative: str | None = None,
    method: str | None = None,
    cluster_size: int | None = None,
    icc: float | None = None,
    test: str | None = None,
    data: object = None,
    groups: Source | None = None,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_threads: int | None = None,
    nan_policy: str | None = None,
) -> Power:
    """Return the probability that a test on so many items is significant.

    Give `effect` with `discordance` (0/1 answers) or with `std_of_difference` (scores); or the
    scores of a pilot, from which whole experiments are drawn. Keywords that belong to another
    question are refused.

    Parameters
    ----------
    pilot_a, pilot_b
        Scores of both systems on the same items, arrays or columns of `data`. Their differences
        (with groups, the mean differences of these) must vary: a pilot is there to show the spread.
    n_items
        Items of the experiment that is planned.
    effect
        The true difference a - b. With a pilot, its differences are moved to have this mean; None
        takes the pilot's own, which is itself uncertain (and, where the pilot was chosen because it
        looked good, too large).
    discordance, std_of_difference, alpha, alternative, method, cluster_size, icc
        As in :func:`sample_size`.
    test
        With a pilot, what is done with each experiment: "t" (default: paired t-test; with groups
        the cluster-robust one), "bootstrap" (:func:`paired_bootstrap`) or "randomization"
        (:func:`approximate_randomization`), these with 999 resamples.
    data, groups, nan_policy, n_threads
        With a pilot, as in :func:`bootstrap`; groups are drawn whole, so many that they have
        `n_items` items on average.
    n_resamples
        With a pilot, the number of experiments; None for 9,999 ("t") or 999 (the others).
    rng
        With a pilot, a seed, a NumPy Generator or SeedSequence, or None for fresh entropy.

    Returns
    -------
    Power
        With the Monte Carlo standard error, where experiments were drawn.

    Raises
    ------
    TypeError
        Keywords are missing or do not belong together.
    ValueError
        A number is out of range, a word or a column is unknown, or the pilot shows no spread: it
        is a single row or group, or all its differences are equal (but for rounding).

    Examples
    --------
    >>> import fastboot as fb
    >>> round(fb.power(effect=0.02, discordance=0.15, n_items=1_000).power, 3)
    0.342
    >>> pilot_a, pilot_b = [0.9, 0.4, 0.7, 0.8, 0.6, 0.9], [0.7, 0.5, 0.6, 0.7, 0.6, 0.5]
    >>> fb.power(pilot_a, pilot_b, n_items=30, rng=0).power > 0.9
    True
    """
    given = given_of(locals())
    n = whole("n_items", given.pop("n_items"))
    question = question_of("power", given, (PILOT, MCNEMAR, PAIRED_T))
    if question is PILOT:
        return pilot_power(n_items=n, **given)
    plan = PLANS[question](given)
    size = given.get("cluster_size", 1)
    if n % size:
        raise ValueError(f"`n_items` is {n:,} but `cluster_size` is {size:,}; give whole clusters")
    return Power(
        power=plan.reached(n // size),
        n_items=n,
        n_clusters=n // size,
        goal=plan.goal,
        inputs=plan.inputs,
        assumptions=plan.assumptions,
    )
