"""The sensitivity of scoring mechanisms: what is drawn, called and compared; on real text too."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from scipy import stats
from statistical import assert_rate, assert_same_law

from fastboot.companions.sensitivity import sensitivity_test
from fastboot.progress import Bar

DATA = Path(__file__).parent / "data"
# Each score tells which reports were compared: reports are numbers, degraded ones end in .5.
ITEMS = {"x": [10, 11], "y": [20, 21, 22], "z": [30, 31, 32, 33]}


def code(report: float, partner: float) -> float:
    """Tell the reports from the score."""
    return 1_000 * report + partner


def half(report: float) -> float:
    """Mark a report."""
    return report - 0.5


def run(**options: Any) -> Any:
    """Test `code` on `ITEMS`."""
    return sensitivity_test(
        options.pop("items", ITEMS), options.pop("mechanism", code), options.pop("degrade", half),
        **{"n_pairs": 50, "rng": 0, "n_resamples": 99} | options,
    )  # fmt: skip


# What is drawn and called


@pytest.mark.parametrize("batched", [False, True])
def test_sensitivity__same_partner(batched: bool) -> None:
    """Both scores are of the reports said, against the same partner."""
    options: dict[str, Any] = {}
    if batched:
        options = {
            "mechanism": lambda own, partners: [
                code(*pair) for pair in zip(own, partners, strict=True)
            ],
            "degrade": lambda own: np.array([half(report) for report in own]),
            "batched": True,
            "batch_size": 7,
        }
    found = run(**options)
    assert 50 == found.n_pairs == len(found.items) == len(found.reports)
    for item, (i, j), score, worse in zip(
        found.items, found.reports, found.scores, found.degraded_scores, strict=True
    ):
        assert i != j
        assert code(ITEMS[item][i], ITEMS[item][j]) == score
        assert code(half(ITEMS[item][i]), ITEMS[item][j]) == worse
    assert 500.0 == found.test.estimate


def test_sensitivity__batches_change_nothing() -> None:
    """A seed draws the same pairs, however they are scored; names of items do not matter."""
    one = run()
    for other in (
        run(),
        run(items=list(ITEMS.values())),
        run(rng=one.seed),
        run(
            batched=True,
            batch_size=50,
            mechanism=lambda own, partners: list(map(code, own, partners)),
            degrade=lambda own: list(map(half, own)),
        ),
    ):
        assert one.scores.tolist() == other.scores.tolist()
        assert one.degraded_scores.tolist() == other.degraded_scores.tolist()
    assert {"x", "y", "z"} == set(one.items)
    assert {0, 1, 2} == set(run(items=list(ITEMS.values())).items)
    assert one.scores.tolist() != run(rng=1).scores.tolist()


def test_sensitivity__law_of_pairs() -> None:
    """Each item equally often, and each ordered pair of its reports: 24,000 draws."""
    found = run(n_pairs=24_000, n_resamples=0)
    drawn = Counter(
        (item, i, j) for item, (i, j) in zip(found.items, found.reports.tolist(), strict=True)
    )
    law = {
        (item, i, j): 1 / (3 * len(own) * (len(own) - 1))
        for item, own in ITEMS.items()
        for i in range(len(own))
        for j in range(len(own))
        if i != j
    }
    assert set(drawn) <= set(law)
    assert_same_law([drawn[key] for key in law], list(law.values()), detects=0.025)


def test_sensitivity__without_replacement() -> None:
    """Each item once at most, all equally likely."""
    items = [[i, i + 0.25] for i in range(5)]
    all_of_them = run(items=items, n_pairs=5, replace=False, n_resamples=0)
    assert [0, 1, 2, 3, 4] == sorted(all_of_them.items)
    n_runs = 2_000
    first = Counter(
        run(items=items, n_pairs=2, replace=False, n_resamples=0, rng=seed).items[0]
        for seed in range(n_runs)
    )
    assert_same_law([first[i] for i in range(5)], [0.2] * 5, detects=0.08)
    with pytest.raises(ValueError, match="`n_pairs` is 6 but there are 5 items, drawn without"):
        run(items=items, n_pairs=6, replace=False)


def test_sensitivity__tests() -> None:
    """The plain test takes pairs as independent, the other items as groups."""
    rng = np.random.default_rng(1)
    items = [list(rng.normal(size=3)) for _ in range(12)]
    found = run(items=items, mechanism=lambda x, y: x * y, degrade=lambda x: 0.5 * x)
    expected = stats.ttest_rel(found.scores, found.degraded_scores, alternative="greater")
    assert expected.statistic == pytest.approx(found.test.t, rel=1e-12)
    assert expected.pvalue == pytest.approx(found.pvalue, rel=1e-11)
    assert ("row", 50, "group") == (found.test.unit, found.test.n_units, found.test_by_item.unit)
    assert len(set(found.items)) == found.n_items_drawn == found.test_by_item.n_units
    assert found.test.estimate == found.test_by_item.estimate
    assert found.test.bootstrap.seed == found.seed == 0
    less = run(
        items=items, mechanism=lambda x, y: x * y, degrade=lambda x: 2 * x, alternative="less"
    )
    assert "less" == less.test.alternative


def test_sensitivity__progress(capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs done of all, for a function; or a bar of pairs."""
    calls = []
    run(n_pairs=3, n_resamples=0, progress=lambda done, total: calls.append((done, total)))
    assert [(0, 3), (1, 3), (2, 3), (3, 3)] == calls
    run(n_pairs=3, n_resamples=0, progress=True)
    assert re.search(r"3/3 pairs, [\d,.]+/s, 0 s left\n", capsys.readouterr().err)
    Bar()(2, 2)
    assert "2/2 resamples" in capsys.readouterr().err


# Exceptions name the item


def test_sensitivity__exceptions() -> None:
    """What the caller's functions raise has the item and its reports in a note."""

    def fails(*_: Any) -> Any:
        raise RuntimeError("no answer")

    first = run(n_resamples=0)
    item, (i, j) = first.items[0], first.reports[0]
    with pytest.raises(RuntimeError, match="no answer") as caught:
        run(mechanism=fails)
    assert [
        f"in `mechanism`, item {item!r}, report {i} against report {j}"
    ] == caught.value.__notes__
    with pytest.raises(RuntimeError, match="no answer") as caught:
        run(degrade=fails)
    assert [f"in `degrade`, item {item!r}, report {i} against report {j}"] == caught.value.__notes__
    with pytest.raises(RuntimeError, match="no answer") as caught:
        run(mechanism=fails, batched=True, batch_size=5)
    (note,) = caught.value.__notes__
    assert note.startswith(f"in `mechanism`, item {item!r}, report {i} against report {j}; item")
    assert note.endswith("; and 2 more pairs")


@pytest.mark.parametrize(
    "options,kind,message",
    [
        ({"mechanism": lambda *_: "high"}, TypeError,
         "`mechanism` returned 'high'; a score must be a number (item 'z', report"),
        ({"mechanism": lambda *_: "0.5"}, TypeError,
         "`mechanism` returned '0.5'; a score must be a number (item 'z', report"),
        ({"mechanism": lambda *_: "12", "batched": True, "degrade": list, "n_pairs": 2},
         TypeError, "`mechanism` returned '1'; a score must be a number (item 'z', report"),
        ({"mechanism": lambda *_: math.inf}, ValueError,
         "`mechanism` returned inf; a score must be finite (item 'z'"),
        ({"mechanism": lambda *_: math.nan}, ValueError,
         '`mechanism` returned nan; a score must be finite, or pass nan_policy="omit" (item'),
        ({"mechanism": lambda own, _: [0.0] * (len(own) + 1), "batched": True,
          "degrade": list, "n_pairs": 2}, ValueError,
         "`mechanism` returned 3 scores for 2 pairs (item 'z', report"),
        ({"mechanism": lambda own, _: [0.0] * len(own), "batched": True,
          "degrade": lambda _: [], "n_pairs": 2}, ValueError,
         "`degrade` returned 0 reports for 2 pairs (item"),
        ({"mechanism": 3}, TypeError, "`mechanism` is 3; it must be a function"),
        ({"degrade": None}, TypeError, "`degrade` is None; it must be a function"),
        ({"items": []}, ValueError, "`items` is empty; give one item at least"),
        ({"items": "text"}, TypeError, "`items` is a str; give a list with the reports of each"),
        ({"items": ["one", "two"]}, TypeError, "`items` holds a str for item 0; it must be"),
        ({"items": {"q": ["alone"]}}, ValueError,
         "`items` has 1 report for item 'q'; a report needs a partner"),
        ({"n_pairs": 0}, ValueError, "`n_pairs` is 0; it must be 1 or more"),
        ({"n_pairs": 2.0}, TypeError, "`n_pairs` is 2.0; it must be a whole number"),
        ({"batched": True, "batch_size": 0}, ValueError, "`batch_size` is 0; it must be 1 or more"),
        ({"batched": 1}, TypeError, "`batched` is 1; it must be True or False"),
        ({"replace": "no"}, TypeError, "`replace` is 'no'; it must be True or False"),
        ({"progress": 3}, TypeError, "`progress` is 3; give True for a bar"),
        ({"alternative": "up"}, ValueError, "`alternative` is 'up'; choose one of"),
        ({"confidence_level": 2}, ValueError, "`confidence_level` is 2; it must lie"),
        ({"rng": -1}, ValueError, "`rng` is -1; a seed must be 0 or more"),
        ({"nan_policy": "propagate"}, ValueError,
         "`nan_policy` is 'propagate'; choose raise or omit"),
        ({"nan_policy": None}, ValueError, "`nan_policy` is None; choose raise or omit"),
    ],
)  # fmt: skip
def test_sensitivity__refuses(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    """By name, with the value and what to do."""
    with pytest.raises(kind, match=re.escape(message)):
        run(**options)


@pytest.mark.parametrize(
    "wrong",
    [{"nan_policy": "drop"}, {"n_resamples": -1}, {"n_resamples": "many"}, {"rng": "x"},
     {"alternative": "up"}, {"confidence_level": 95}, {"progress": 3}, {"degrade": None}],
)  # fmt: skip
def test_sensitivity__refuses_before_any_call(wrong: dict[str, Any]) -> None:
    """A call may cost money."""
    calls = []
    with pytest.raises((TypeError, ValueError), match=f"^`{next(iter(wrong))}` is "):
        run(mechanism=lambda *pair: calls.append(pair), **wrong)
    assert not calls


def test_sensitivity__omit() -> None:
    """Pairs without a score are left out of the tests, and kept in the lists."""
    found = run(
        mechanism=lambda own, partner: math.nan if own == 10 else own * partner,
        nan_policy="omit",
        n_resamples=0,
    )
    n_missing = int(np.isnan(found.scores).sum())
    assert n_missing > 0
    assert (50, 50 - n_missing, n_missing) == (
        found.n_pairs,
        found.test.n_rows,
        found.test.n_dropped,
    )


def test_sensitivity__words() -> None:
    """One line, a sentence, a signature; scores are read-only, also after pickling."""
    rng = np.random.default_rng(2)
    items = [list(rng.normal(1.0, 1.0, size=3)) for _ in range(12)]
    found = run(items=items, mechanism=lambda x, y: x * y, degrade=lambda x: x - 1.0)
    assert re.fullmatch(
        r"SensitivityResult\(drop [\d.]+ \[[\d.]+, inf\], p = \S+, n_pairs=50, "
        r"n_items_drawn=12, seed=0\)",
        repr(found),
    )
    summary = found.summary()
    assert summary.startswith("50 pairs of reports, items drawn with replacement from 12 (seed 0);")
    assert "paired t test t(49) = " in summary
    assert "With the 12 items drawn as groups: t(11) = " in summary
    assert ("50 pairs share 12 items: test_by_item allows for that",) == found.notes[:1]
    assert "procedure:sensitivity_test|n_pairs:50|n_items:12|replace:True|" in found.signature()
    assert 50 == json.loads(found.to_json())["n_pairs"]
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    for array in (found.scores, found.degraded_scores, found.reports, copy.scores):
        assert not array.flags.writeable
    assert found.to_dict() == copy.to_dict()


# Real text: four translations of each of 45 short psalms


@pytest.fixture(scope="module")
def psalms() -> dict[int, list[str]]:
    """The translations of each psalm, one verse per line."""
    items: dict[int, list[str]] = {}
    for row in parquet.read_table(DATA / "psalms.parquet").to_pylist():
        items.setdefault(row["psalm"], []).append(row["text"])
    return items


def words(report: str) -> set[str]:
    """Return the words of a report."""
    return set(re.findall(r"[a-z]+", report.lower()))


def overlap(report: str, partner: str) -> float:
    """Return the share of the partner's words that the report has."""
    return len(words(report) & words(partner)) / len(words(partner))


def every_other_verse(report: str) -> str:
    """Drop every other verse: the degradation of Lu et al. (2024), who drop every other line."""
    return "\n".join(report.split("\n")[::2])


def test_psalms__overlap_is_sensitive(psalms: dict[int, list[str]]) -> None:
    """A report that lost half its verses shares fewer words with its partner."""
    assert {4} == {len(reports) for reports in psalms.values()}
    found = sensitivity_test(psalms, overlap, every_other_verse, n_pairs=200, rng=0)
    assert 45 == found.n_items
    assert found.test.t > 20
    assert found.test_by_item.pvalue < 1e-12
    assert found.test.bootstrap is not None
    assert 1e-4 == found.test.bootstrap.pvalue
    assert (found.scores >= found.degraded_scores).all()  # fewer words share fewer


def test_psalms__lengths_are_not_seen(psalms: dict[int, list[str]]) -> None:
    """A mechanism that scores what does not depend on the report is not sensitive: p = 1."""
    found = sensitivity_test(
        psalms, lambda _, partner: len(partner), every_other_verse, n_pairs=50, rng=0
    )
    assert (0.0, 1.0) == (found.test.estimate, found.pvalue)


def drop_three_words(report: str) -> str:
    """Drop the last three words: a degradation that is hard to see."""
    return report.rsplit(None, 3)[0]


def test_psalms__independent_samples_lose_power(psalms: dict[int, list[str]]) -> None:
    """Paired, a slight degradation is nearly always found; as two samples nearly never.

    400 runs of 30 pairs. The powers are far apart: each run is found by the paired test with
    probability above 0.9 and by the other below 0.2, by exact binomial tails of 1e-6.
    """
    n_runs = 400
    paired = unpaired = 0
    for seed in range(n_runs):
        found = sensitivity_test(
            psalms, overlap, drop_three_words, n_pairs=30, rng=seed, n_resamples=0
        )
        paired += found.pvalue <= 0.05
        independent = stats.ttest_ind(found.scores, found.degraded_scores, alternative="greater")
        unpaired += independent.pvalue <= 0.05
    assert stats.binom.sf(paired - 1, n_runs, 0.9) < 1e-6, (paired, unpaired)
    assert stats.binom.cdf(unpaired, n_runs, 0.2) < 1e-6, (paired, unpaired)


@pytest.mark.slow
def test_sensitivity__level() -> None:
    """A degradation that changes nothing on average is found in 5 % of the runs.

    Reports are standard normal, the degraded one is another such report: differences are normal.
    """
    n_runs = 3_000
    rejected = 0
    rng = np.random.default_rng(3)

    def another(_: float) -> float:
        return float(rng.normal())

    def own(report: float, _: float) -> float:
        return report

    for seed in range(n_runs):
        items = rng.normal(size=(40, 2)).tolist()
        found = sensitivity_test(
            items, own, another, n_pairs=40, replace=False, rng=seed, n_resamples=0
        )
        rejected += found.pvalue <= 0.05
    assert_rate(rejected, n_runs, 0.05, detects=0.04)
