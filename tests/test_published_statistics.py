"""Published evaluations, answered by slices, clusters, strata, and seeds inside systems.

Figures come from the sources named beside them. Printed ones are matched to their last digit, those
made with few resamples within their own error; standard errors "by formula" are closed forms.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from enumeration import DEVIATIONS, assert_standard_error
from scipy import stats
from statistical import FALSE_FAILURE, assert_rate

import fastboot as fb
from fastboot.companions.t_test import paired_t_test

DATA = Path(__file__).with_name("data")
SEED = 20_240_304


def near(expected: Any) -> Any:
    """Equal but for rounding of sums of values up to 500."""
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


def read(name: str, counts: str | None = None) -> dict[str, Any]:
    """Columns of a file of the tests; a row for each of its counts."""
    columns = {
        key: np.array(values) for key, values in pq.read_table(DATA / name).to_pydict().items()
    }
    if counts is None:
        return columns
    times = columns.pop(counts)
    return {key: np.repeat(values, times) for key, values in columns.items()}


# Judges: LLMBar (Zeng et al. 2023, arXiv 2310.07641), its published statistics.json

CELL = ["subset", "judge", "strategy"]


@pytest.fixture(scope="module")
def judged() -> fb.Table[Any]:
    """Accuracy in both orders of presentation, and agreement of the orders, in 499 cells."""
    data = read("llmbar_judges.parquet", "items")
    first, second = fb.accuracy("label", "winner_0"), fb.accuracy("label", "winner_1")
    right = (data["winner_0"] == data["label"]) & (data["winner_1"] == data["label"])
    return fb.bootstrap(
        {
            "correct_0": first,
            "correct_1": second,
            "both": fb.mean(right),
            "equal": fb.agreement("winner_0", "winner_1"),
            "average": fb.combine(lambda a, b: (a + b) / 2, first, second),
        },
        data=data,
        by=CELL,
        n_resamples=999,
        rng=SEED,
    )


def test_llmbar__every_cell(judged: fb.Table[Any]) -> None:
    """All 499 cells of the published table: four counts, over the number of items, each."""
    published = read("llmbar_published.parquet")
    assert 499 * 5 == len(judged)
    for subset, judge, strategy, n, *counts in zip(*published.values(), strict=True):
        cell = (str(subset), str(judge), str(strategy))
        for name, count in zip(("correct_0", "correct_1", "both", "equal"), counts, strict=True):
            result = judged[name, *cell]
            assert (n, n) == (result.n_rows, result.n_units)
            assert count / n == result.estimate
            share = count / n
            assert_standard_error(result, math.sqrt(share * (1 - share) / n))


@pytest.mark.parametrize(
    "judge,first,second,average,equal",
    [("GPT-4", 95, 96, 95.5, 95), ("ChatGPT", 80, 83, 81.5, 71), ("PaLM2", 78, 88, 83, None)],
)
def test_llmbar__natural(
    judged: fb.Table[Any],
    judge: str,
    first: float,
    second: float,
    average: float,
    equal: float | None,
) -> None:
    """Table 2 of the paper, vanilla prompt: Acc. is the average of both orders, Agr. `equal`."""
    cell = ("LLMBar/Natural", judge, "Vanilla")
    values = [100 * judged[name, *cell].estimate for name in ("correct_0", "correct_1", "average")]
    assert [first, second, average] == pytest.approx(values)
    if equal is not None:
        assert equal == pytest.approx(100 * judged["equal", *cell].estimate)


# Human scores: MQM (google/wmt-mqm-human-evaluation, README)

MQM = {
    ("newstest2020", "ende"): {
        "Human-B.0": 0.75, "Human-A.0": 0.91, "Human-P.0": 1.41, "Tohoku-AIP-NTT.890": 2.02,
        "OPPO.1535": 2.25, "eTranslation.737": 2.33, "Tencent_Translation.1520": 2.35,
        "Huoshan_Translate.832": 2.45, "Online-B.1590": 2.48, "Online-A.1574": 2.99,
    },
    ("newstest2020", "zhen"): {
        "Human-A.0": 3.43, "Human-B.0": 3.62, "Huoshan_Translate.919": 5.03,
        "WeChat_AI.1525": 5.13, "Tencent_Translation.1249": 5.19, "OPPO.1422": 5.20,
        "THUNLP.1498": 5.34, "DeepMind.381": 5.41, "DiDi_NLP.401": 5.48, "Online-B.1605": 5.85,
    },
    ("newstest2021", "ende"): {
        "ref-C": 0.51, "VolcTrans-GLAT": 1.04, "Facebook-AI": 1.05, "ref-A": 1.22, "Nemo": 1.34,
        "HuaweiTSC": 1.38, "Online-W": 1.46, "UEdin": 1.51, "eTranslation": 1.70,
        "VolcTrans-AT": 1.74,
    },
    ("newstest2021", "zhen"): {
        "ref-A": 4.35, "NiuTrans": 4.63, "SMU": 4.84, "MiSS": 4.93, "Borderline": 4.95,
        "DIDI-NLP": 5.1, "IIE-MT": 5.15, "Facebook-AI": 5.22, "Online-W": 5.57,
    },
    ("ted", "ende"): {
        "ref-A": 0.91, "Facebook-AI": 1.06, "Online-W": 1.12, "VolcTrans-AT": 1.24,
        "metricsystem3": 1.44, "VolcTrans-GLAT": 1.49, "HuaweiTSC": 1.50, "metricsystem1": 1.63,
        "metricsystem2": 1.69, "metricsystem5": 1.72, "UEdin": 1.77, "metricsystem4": 1.78,
        "eTranslation": 1.96, "Nemo": 2.14,
    },
    ("ted", "zhen"): {"ref-B": 0.42, "DIDI-NLP": 1.65, "ref-A": 5.52},
}  # fmt: skip


def test_mqm__system_means() -> None:
    """The published mean of every system, as slices; errors by formula; weights do as rows do."""
    by = ["test_set", "lp", "system"]
    table = fb.bootstrap(
        "mqm", data=read("mqm_scores.parquet", "segments"), by=by, n_resamples=999, rng=SEED
    )
    distinct = read("mqm_scores.parquet")
    counted = fb.bootstrap("mqm", data=distinct, by=by, weights="segments", n_resamples=9, rng=SEED)
    assert 81 == len(table) == len(counted)
    for (test_set, lp), systems in MQM.items():
        for system, published in systems.items():
            key = (test_set, lp, system)
            result = table[key]
            # The source rounds some and cuts others: eTranslation 1.9688 is printed 1.96.
            assert abs(published - result.estimate) < 0.01
            rows = np.all(
                [distinct[name] == part for name, part in zip(by, key, strict=True)], axis=0
            )
            scores = np.repeat(distinct["mqm"][rows], distinct["segments"][rows])
            assert scores.size == result.n_rows
            assert_standard_error(result, scores.std() / math.sqrt(scores.size))
            # Two sums, each of at most n roundings.
            rounding = 4 * scores.size * np.finfo(float).eps
            assert result.estimate == pytest.approx(counted[key].estimate, rel=rounding)


@pytest.mark.parametrize(
    "unit,n_units,error",
    [
        (None, 1_131, 0.09052183084270529),
        ("segment", 377, 0.11686152380988588),
        ("document", 38, 0.16409317053498138),
        ("rater", 8, 0.1352492744068181),
    ],
)
def test_mqm__three_ratings_of_a_segment(unit: str | None, n_units: int, error: float) -> None:
    """WMT23 zh-en, GPT4-5shot less Lan-BridgeMT: errors by rows, segments, documents and raters.

    The errors are those of sandwich formulas (statsmodels), not published. Where groups differ in
    size the difference is a ratio, and the formula leaves out terms of 1 / n_units.
    """
    data = read("mqm_three_raters.parquet")
    a, b = data["gpt4"] / 10, data["lan_bridge"] / 10
    groups = None if unit is None else data[unit]
    result = fb.paired_bootstrap(a, b, groups=groups, n_resamples=99_999, rng=SEED)
    assert (1_131, n_units) == (result.n_rows, result.n_units)
    assert 0.14809902784415413 == pytest.approx(result.estimate, abs=2.0**-20)  # float32 there
    neglected = 0 if unit in {None, "segment"} else 1 / n_units
    assert_standard_error(result, error, neglected=neglected + 2.0**-20)
    assert result.analytic_errors is not None
    assert error == pytest.approx(result.analytic_errors.cr0, rel=2.0**-20)


def test_mqm__segments_and_raters_crossed() -> None:
    """Segments and raters drawn independently: an error by formula, above either alone.

    A row weighs u v, u the number of draws of its segment and v of its rater; E[u^2] = 2 - 1/n,
    E[u u'] = 1 - 1/n. With residuals e the variance of sum(u v e) is then
    (1 - 1/m) sum of (segment sums of e)^2 + (1 - 1/n) sum of (rater sums of e)^2 + sum of e^2
    (Owen 2007), for n segments and m raters.
    """
    data = read("mqm_three_raters.parquet")
    d = (data["gpt4"] - data["lan_bridge"]) / 10
    e = d - d.mean()
    by_segment, by_rater = (
        (np.bincount(data[factor], e) ** 2).sum() for factor in ("segment", "rater")
    )
    n, m = 377, 8
    formula = math.sqrt((1 - 1 / m) * by_segment + (1 - 1 / n) * by_rater + (e**2).sum()) / d.size
    result = fb.paired_bootstrap(
        data["gpt4"] / 10,
        data["lan_bridge"] / 10,
        groups=[data["segment"], data["rater"]],
        levels="crossed",
        n_resamples=99_999,
        rng=SEED,
    )
    # A ratio, as the raters have different numbers of segments: relative terms of 1 / m.
    assert_standard_error(result, formula, neglected=1 / m)
    assert result.standard_error > 0.1352492744068181


# Answers in languages: XNLI and MARC of ExplainaBoard

# Both right, only mLPP, only mT5, neither; the accuracies in the names of the source's files
# (data/system_outputs at commit b8c1dad7660c608f44489cb2336d244bf01a7b5b).
LANGUAGES = {
    ("marc", "de"): ([3673, 59, 61, 207], 0.9330, 0.9335),
    ("marc", "en"): ([3597, 64, 83, 256], 0.9152, 0.9200),
    ("marc", "es"): ([3673, 64, 63, 200], 0.9342, 0.9340),
    ("marc", "fr"): ([3653, 52, 80, 215], 0.9262, 0.9332),
    ("marc", "ja"): ([3582, 78, 73, 267], 0.9150, 0.9137),
    ("marc", "zh"): ([3361, 121, 111, 407], 0.8705, 0.8680),
    ("xnli", "en"): ([3581, 363, 265, 801], 0.7872, 0.7676),
    ("xnli", "es"): ([3405, 442, 291, 872], 0.7678, 0.7377),
    ("xnli", "zh"): ([3255, 408, 311, 1036], 0.7311, 0.7117),
}


def test_languages__two_systems_in_slices() -> None:
    """Published accuracies of two systems in nine slices; errors and McNemar tests by formula."""
    kinds = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    parts = [(np.repeat(kinds, counts, axis=0), key) for key, (counts, *_) in LANGUAGES.items()]
    right = np.concatenate([rows for rows, _ in parts])
    data = {
        "mlpp": right[:, 0],
        "mt5": right[:, 1],
        "task": np.repeat([task for _, (task, _) in parts], [len(rows) for rows, _ in parts]),
        "language": np.repeat([code for _, (_, code) in parts], [len(rows) for rows, _ in parts]),
    }
    by = ["task", "language"]
    table = fb.paired_bootstrap("mlpp", "mt5", data=data, by=by, rng=SEED)
    swaps = fb.approximate_randomization(
        "mlpp", "mt5", data=data, by=by, n_resamples=9_999, rng=SEED
    )
    assert 9 == len(table) == len(swaps)
    for key, (counts, mlpp, mt5) in LANGUAGES.items():
        result, n = table[key], sum(counts)
        # The source rounds half to even, or cuts, in the fourth digit.
        assert abs(mlpp - result.estimate_a) <= 1e-4
        assert abs(mt5 - result.estimate_b) <= 1e-4
        _, only_a, only_b, _ = counts
        square = (only_a + only_b) / n - ((only_a - only_b) / n) ** 2
        assert_standard_error(result, math.sqrt(square / n))
        pvalue = stats.binomtest(only_a, only_a + only_b).pvalue
        assert_rate(swaps[key].n_extreme, 9_999, pvalue, detects=0.05)


# Optimizer runs: MultEval (Clark et al. 2011), its README

RUNS = [0, 1, 2]


def multeval(system: str, run: int | None = None) -> dict[str, fb.Additive]:
    """BLEU, TER and length of one run, the rows of others being empty texts; or of all rows."""
    data = read("multeval.parquet")
    there = 1 if run is None else data["run"] == run
    column = {key.removeprefix(f"{system}_"): values * there for key, values in data.items()}
    words = column["words"]
    totals = [np.maximum(words - order, 0) for order in range(4)]
    correct = [column[f"correct_{order}"] for order in range(1, 5)]
    return {
        "BLEU": fb.bleu(correct=correct, total=totals, reference_length=column["reference"]),
        "TER": fb.ter(column["edits"], column["ter_reference"]),
        "length": fb.ratio(100 * words, column["reference"]),
    }


@pytest.mark.parametrize(
    "system,published",
    [
        ("baseline",
         {"BLEU": (18.5, 0.3, 0.1), "TER": (65.7, 0.4, 0.2), "length": (107.5, 0.4, 0.1)}),
        ("system",
         {"BLEU": (18.8, 0.3, 0.3), "TER": (64.8, 0.4, 0.6), "length": (107.7, 0.3, 0.7)}),
    ],
)  # fmt: skip
def test_multeval__runs(system: str, published: dict[str, tuple[float, float, float]]) -> None:
    """Mean over three runs, error by segments (mean over runs), and spread of the runs (ddof 1)."""
    runs = read("multeval.parquet")["run"]
    table = fb.bootstrap(multeval(system), by=runs, rng=SEED)
    for name, (mean, by_segments, by_runs) in published.items():
        results = [table[name, run] for run in RUNS]
        assert {2_489} == {result.n_units for result in results}
        values = [result.estimate for result in results]
        # TER is counted by sacreBLEU here, which differs in the second digit after the point.
        assert mean == pytest.approx(np.mean(values), abs=0.05 + 1e-9)
        assert by_segments == pytest.approx(
            np.mean([result.standard_error for result in results]), abs=0.05
        )
        assert by_runs == pytest.approx(np.std(values, ddof=1), abs=0.05)


@pytest.mark.parametrize("name,published", [("BLEU", 0.00), ("TER", 0.00), ("length", 0.09)])
def test_multeval__stratified_randomization(name: str, published: float) -> None:
    """Systems change sides in each segment of each run; the mean over runs is compared."""

    def mean_of_runs(system: str) -> fb.Additive:
        runs = [multeval(system, run)[name] for run in RUNS]
        return fb.combine(lambda *values: sum(values) / 3, *runs, name=name)

    result = fb.approximate_randomization(
        mean_of_runs("system"), mean_of_runs("baseline"), rng=SEED
    )
    assert 7_467 == result.n_units
    # Both are shares of some 10,000 independent swaps; two digits are printed.
    error = math.sqrt(2 * result.pvalue * (1 - result.pvalue) / 9_999)
    assert published == pytest.approx(result.pvalue, abs=0.005 + DEVIATIONS * error)


def test_multeval__copy() -> None:
    """Its system 2 is a copy of the baseline: p = 0.00 there by a strict count, and 1 here."""
    for name, statistic in multeval("baseline").items():
        result = fb.approximate_randomization(statistic, statistic, n_resamples=999, rng=SEED)
        assert (0.0, 1.0) == (result.estimate, result.pvalue), name


# t tests: Lu et al. (2024, arXiv 2405.15077) and Dror et al. (2018, P18-1128)

# Mean, standard deviation (ddof 0), standard error, t, two-sided p and n of 28 paired tests, from
# experiments/logs of the authors' repository.
T_TESTS = [
    (20.822, 19.512, 0.617, 33.729, 4.186e-167, 1000),
    (8.868, 10.712, 0.339, 26.166, 2.306e-115, 1000),
    (2.904, 20.489, 0.916, 3.166, 1.638e-3, 500), (10.020, 19.290, 0.863, 11.603, 1.005e-27, 500),
    (3.926, 13.835, 0.619, 6.339, 5.165e-10, 500), (6.732, 8.140, 0.364, 18.476, 1.859e-58, 500),
    (5.357, 14.716, 0.658, 8.131, 3.392e-15, 500), (9.197, 14.173, 0.634, 14.495, 5.466e-40, 500),
    (5.007, 10.915, 0.345, 14.500, 2.224e-43, 1000), (0.399, 5.606, 0.177, 2.252, 2.455e-2, 1000),
    (3.909, 8.764, 0.277, 14.097, 2.714e-41, 1000), (1.990, 5.081, 0.161, 12.379, 7.604e-33, 1000),
    (0.324, 9.680, 0.433, 0.748, 4.550e-1, 500), (0.640, 9.242, 0.413, 1.547, 1.225e-1, 500),
    (0.815, 10.634, 0.336, 2.422, 1.560e-2, 1000), (-0.246, 11.152, 0.353, -0.697, 4.859e-1, 1000),
    (1.055, 5.438, 0.172, 6.131, 1.252e-9, 1000), (0.362, 2.524, 0.080, 4.534, 6.496e-6, 1000),
    (0.513, 5.474, 0.173, 2.962, 3.130e-3, 1000), (0.407, 4.451, 0.141, 2.890, 3.934e-3, 1000),
    (0.200, 0.606, 0.019, 10.447, 2.575e-24, 1000), (0.018, 0.195, 0.006, 2.982, 2.937e-3, 1000),
    (0.084, 0.397, 0.013, 6.659, 4.534e-11, 1000), (0.015, 0.219, 0.007, 2.203, 2.781e-2, 1000),
    (0.049, 0.432, 0.019, 2.549, 1.109e-2, 500), (0.067, 0.447, 0.020, 3.326, 9.474e-4, 500),
    (0.482, 1.032, 0.033, 14.774, 8.012e-45, 1000), (0.044, 0.474, 0.015, 2.955, 3.204e-3, 1000),
]  # fmt: skip


def sample_with(mean: float, deviation: float, n: int) -> Any:
    """Return n values of this mean and standard deviation (ddof 0)."""
    z = stats.norm.ppf((np.arange(n) + 0.5) / n)
    return mean + deviation * (z - z.mean()) / z.std()


@pytest.mark.parametrize("mean,deviation,error,t,pvalue,n", T_TESTS)
def test_peer_prediction__t(
    mean: float, deviation: float, error: float, t: float, pvalue: float, n: int
) -> None:
    """Only mean, deviation and n matter to t, its p-value and the error; each is printed."""
    x = sample_with(mean, deviation, n)
    result = fb.bootstrap(x, rng=SEED)
    assert_standard_error(result, deviation / math.sqrt(n))
    assert error == pytest.approx(deviation / math.sqrt(n), abs=0.0005 * 1.03)
    errors = result.analytic_errors
    assert errors is not None
    # Three digits after the point of mean, deviation and t.
    uncertain = abs(t) * 0.0005 * (1 / abs(mean) + 1 / deviation) + 0.0005
    assert t == pytest.approx(result.estimate / errors.cr1, abs=uncertain)
    if pvalue > 1e-12:  # else the level is 1
        # The interval of level 1 - p has an end at 0. p has four digits, and moves t by less than
        # its relative error.
        end = min(result.analytic_interval("t", 1 - pvalue)[:2], key=abs)
        assert abs(end) <= (uncertain + 0.0005 + 1e-3 * pvalue) * errors.cr1
    student = paired_t_test(x, n_resamples=0)
    assert t == pytest.approx(student.t, abs=uncertain)
    # log p falls by t + 1 / t at most for each unit of t, and p has four digits.
    reach = uncertain * (abs(t) + 1 / abs(t)) + 0.0005
    assert math.log(pvalue) == pytest.approx(math.log(student.pvalue), abs=reach)
    assert student.pvalue == pytest.approx(2 * min(student.pvalue_greater, student.pvalue_less))


def test_dror__t() -> None:
    """One-sided p = 0.00487195100707 of 1,000 pairs, in the README of testSignificanceNLP."""
    mean, deviation, n = -1.7190431, 20.990674987646045, 1_000
    x = sample_with(mean, deviation * math.sqrt((n - 1) / n), n)
    result = fb.bootstrap(x, rng=SEED)
    errors = result.analytic_errors
    assert errors is not None
    assert -2.5897650243243633 == pytest.approx(result.estimate / errors.cr1, rel=1e-12)
    end = result.analytic_interval("t", 1 - 0.00487195100707, "less").high
    # p is printed with 12 digits.
    assert 0 == pytest.approx(end / errors.cr1, abs=1e-9)
    student = paired_t_test(x, alternative="less", n_resamples=0)
    assert -2.5897650243243633 == pytest.approx(student.t, rel=1e-12)
    assert "0.00487195100707" == f"{student.pvalue:.14f}"


# Textbooks: gravity, series 7 and 8 (Davison and Hinkley 1997, example 3.2), from R's boot

GRAVITY = {
    "g": [82, 79, 81, 79, 77, 79, 79, 78, 79, 82, 76, 73, 64,
          84, 86, 85, 82, 77, 76, 77, 80, 83, 81, 78, 78, 78],
    "series": [7] * 13 + [8] * 13,
}  # fmt: skip


def test_gravity__strata() -> None:
    """Two samples as strata: difference of means -2.8462, error 1.54672, as printed after 999."""
    g, series = (np.array(column) for column in GRAVITY.values())
    seven, eight = (fb.ratio(g * (series == s), series == s) for s in (7, 8))
    difference = fb.combine(lambda a, b: a - b, seven, eight)
    result = fb.bootstrap(difference, strata=series, n_resamples=99_999, rng=SEED)
    assert "-2.8462" == f"{result.estimate:.4f}"
    assert_standard_error(result, 1.5467233782810863)
    # The printed error has its own: 1 / sqrt(2 x 999) of a nearly normal law.
    assert 1.5528 == pytest.approx(1.54672, rel=DEVIATIONS / math.sqrt(2 * 999))
    # Printed normal interval, less the bias of 999 resamples: each end is off by the error of the
    # bias, and by that of the standard error times 1.96.
    off = DEVIATIONS * 1.5467 * math.hypot(1 / math.sqrt(999), 1.96 / math.sqrt(2 * 999))
    ours = result.interval(method="normal")
    assert [-5.897, 0.190] == pytest.approx(list(ours[:2]), abs=off)
    # Without strata the numbers of both series vary.
    free = fb.bootstrap(difference, n_resamples=99_999, rng=SEED)
    assert free.standard_error > result.standard_error
    # The same as two samples.
    samples = fb.unpaired_bootstrap(g[series == 7], g[series == 8], n_resamples=99_999, rng=SEED)
    assert near(result.estimate) == samples.estimate
    assert_standard_error(samples, 1.5467233782810863)


def assert_printed_studentized(result: Any, low: float, high: float) -> None:
    """Assert that limits printed after 999 resamples have their share of our law of t below them.

    The k-th of 999 values has a Beta(k, 1000 - k) share below it; the limits are estimate - t x
    error, with the 975th and the 25th t.
    """
    t = (result.replicates - result.estimate) / result.replicate_standard_errors
    error = result.analytic_errors.cr0
    for limit, k in ((low, 975), (high, 25)):
        share = np.mean(t < (result.estimate - limit) / error)
        ends = stats.beta.ppf([FALSE_FAILURE / 2, 1 - FALSE_FAILURE / 2], k, 1_000 - k)
        assert ends[0] < share < ends[1]
        ours = result.interval()
        assert near(result.estimate - np.quantile(t, k / 1_000) * error) == ours[k == 25]


def test_gravity__studentized() -> None:
    """Bootstrap-t interval (-7.370, -0.052) of the difference, in R's boot with 999 resamples."""
    g, series = (np.array(column) for column in GRAVITY.values())
    seven, eight = (fb.ratio(g * (series == s), series == s) for s in (7, 8))
    difference = fb.combine(lambda a, b: a - b, seven, eight)
    result = fb.bootstrap(
        difference, strata=series, method="studentized", n_resamples=99_999, rng=SEED
    )
    assert_printed_studentized(result, -7.370, -0.052)


def test_aircondit__studentized() -> None:
    """Bootstrap-t interval (45.6, 295.8) of the mean (Davison and Hinkley 1997, example 1.1)."""
    hours = [3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487]
    result = fb.bootstrap(hours, method="studentized", n_resamples=99_999, rng=SEED)
    assert_printed_studentized(result, 45.6, 295.8)


def test_city__linear_normal_interval() -> None:
    """R's norm.ci with var.linear of the city ratio: (1.167046, 1.873579)."""
    population = [138, 93, 61, 179, 48, 37, 29, 23, 30, 2]
    later = [143, 104, 69, 260, 75, 63, 50, 48, 111, 50]
    result = fb.bootstrap(fb.ratio(later, population), n_resamples=9, rng=SEED)
    limits = list(result.analytic_interval("cr0")[:2])
    # R's differentiation is numerical: its limits are 4e-6 and 4e-6 off the exact ones.
    assert [1.167046, 1.873579] == pytest.approx(limits, abs=5e-6)


def test_inspect__accuracy() -> None:
    """Accuracy 0.8 +- 0.13333333333333333 of ten, .6667 +- .3333 of three (logs of inspect_ai)."""
    for right, n, error in ((8, 10, 0.13333333333333333), (2, 3, 1 / 3)):
        result = fb.bootstrap([1] * right + [0] * (n - right), n_resamples=9, rng=SEED)
        assert result.analytic_errors is not None
        assert near([right / n, error]) == [result.estimate, result.analytic_errors.cr1]


# Textbooks: survival of treated and untreated mice (Efron and Tibshirani 1993, table 2.1)

TREATED = [94, 197, 16, 38, 99, 141, 23]
UNTREATED = [52, 104, 146, 10, 50, 31, 40, 27, 46]


def test_mouse__means_and_errors() -> None:
    """Table 2.1: means 86.86 and 56.22, errors 25.24 and 14.14; difference 30.63, error 28.93."""
    printed = []
    for mouse in (TREATED, UNTREATED):
        result = fb.bootstrap(mouse, n_resamples=9, rng=SEED)
        assert result.analytic_errors is not None
        printed += [f"{result.estimate:.2f}", f"{result.analytic_errors.cr1:.2f}"]
    assert ["86.86", "25.24", "56.22", "14.14"] == printed
    assert "28.93" == f"{math.hypot(25.235489533052238, 14.138970748507845):.2f}"
    difference = fb.unpaired_bootstrap(TREATED, UNTREATED, n_resamples=99_999, rng=SEED)
    assert "30.63" == f"{difference.estimate:.2f}"
    assert_standard_error(difference, 26.89893016721114)  # with the plug-in variances


def test_mouse__permutations() -> None:
    """All 11,440 divisions: 1,608 as extreme, 19 of them ties; printed .132 after 1,000."""
    result = fb.permutation_test(TREATED, UNTREATED, n_resamples=11_440)
    greater = result.test("greater")
    assert ("enumeration", 11_440, 1_608) == (result.path, result.n_resamples, greater.n_extreme)
    assert 0.14055944055944056 == greater.pvalue
    assert 0.27814685314685317 == result.pvalue
    assert_rate(132, 1_000, greater.pvalue, detects=0.1)
    assert 19 == np.isclose(result.replicates, result.estimate).sum()


def test_mouse__shift_test() -> None:
    """The shift test's p-values from the exact law of two independent sums.

    Their ways of 7 and of 9 draws are convolutions; differences are compared in 63rds, whole
    numbers.
    """
    laws = []
    for mouse in (TREATED, UNTREATED):
        one, law = np.bincount(mouse) / len(mouse), np.ones(1)
        for _ in mouse:
            law = np.convolve(law, one)
        laws.append(law)
    sums = [np.arange(law.size) for law in laws]
    observed = 9 * sum(TREATED) - 7 * sum(UNTREATED)
    shifted = 9 * sums[0][:, None] - 7 * sums[1] - observed
    mass = np.outer(*laws)
    result = fb.unpaired_bootstrap(TREATED, UNTREATED, n_resamples=99_999, rng=SEED)
    for side, extreme in (
        ("two-sided", abs(shifted) >= observed),
        ("greater", shifted >= observed),
        ("less", shifted <= observed),
    ):
        count = result.test(side).n_extreme
        assert_rate(count, 99_999, float(mass[extreme].sum()), detects=0.02)


# Real labels: the SMS Spam Collection


def test_sms_spam__duplicates() -> None:
    """Counts of a published study: 290 of 5,159 groups contain duplicates, covering 705 rows."""
    _, sizes = np.unique(fb.load_example()["text"].to_numpy(), return_counts=True)
    assert (5_159, 290, 705) == (sizes.size, (sizes > 1).sum(), sizes[sizes > 1].sum())
    result = fb.bootstrap(fb.mean("spam"), data=fb.load_example(), groups="text", rng=SEED)
    assert (5_159, 747 / 5_574) == (result.n_units, result.estimate)
