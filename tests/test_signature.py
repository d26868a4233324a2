"""One line that says how to reproduce a result: it tells apart what is different, and no more."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import itertools
import math
import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest

import fastboot as fb
from fastboot.calls import words
from fastboot.rendering import signature_line

N = 24
RNG = np.random.default_rng(0)
DATA: dict[str, Any] = {
    "x": RNG.random(N),
    "y": RNG.random(N),
    "w": RNG.random(N),
    "user": np.repeat(np.arange(12), 2),
    "seed": np.tile(np.arange(2), 12),
    "site": np.tile(["Oslo", "Lima", "a|b"], 8),
    "gold": np.tile([1, 0, 1], 8),
    "said": np.tile([1, 1, 0], 8),
    "hole": [math.nan] + [1.0] * (N - 1),
}


def parsed(signature: str) -> dict[str, str]:
    """Return the keys and values of a signature."""
    assert "\n" not in signature
    pairs = [part.partition(":") for part in signature.split("|")]
    assert len({key for key, _, _ in pairs}) == len(pairs)
    return {key: unquote(value) for key, _, value in pairs}


def asking(procedure: Any, *usual: Any) -> Any:
    """Return a procedure of the table above, few resamples, and these columns if no others."""

    def ask(*asked: Any, **options: Any) -> Any:
        given = {"data": DATA, "rng": 0, "n_resamples": 20} | options
        return procedure(*(asked or usual), **given)

    return ask


bootstrap = asking(fb.bootstrap, "x")
paired = asking(fb.paired_bootstrap, "x", "y")
swapped = asking(fb.approximate_randomization, "x", "y")
unpaired = asking(fb.unpaired_bootstrap, "x", "x")
permuted = asking(fb.permutation_test, "x", "x")


class Power(fb.Additive):
    """A statistic of one's own with an option."""

    def __init__(self, column: str, exponent: float) -> None:
        super().__init__(column)
        self.exponent = exponent

    def terms(self, x: Any) -> Any:  # noqa: D102 - of the base
        return (x**self.exponent,)

    def finish(self, x: Any) -> Any:  # noqa: D102 - of the base
        return x


FEWER = {name: values[:20] for name, values in DATA.items()}

# Each differs from all others of its list in what must be known to reproduce it.
CALLS: dict[str, list[Callable[[], Any]]] = {
    "statistics": [
        bootstrap,
        lambda: bootstrap("y"),
        lambda: bootstrap(DATA["x"]),
        lambda: bootstrap(fb.total("x")),
        lambda: bootstrap(fb.std("x")),
        lambda: bootstrap(fb.std("x", ddof=1)),
        lambda: bootstrap(fb.quantile("x", 0.25)),
        lambda: bootstrap(fb.quantile("x", 0.25, method="lower")),
        lambda: bootstrap(fb.f_score("gold", "said")),
        lambda: bootstrap(fb.f_score("gold", "said", pos_label=0)),
        lambda: bootstrap(fb.f_score("gold", "said", average="macro")),
        lambda: bootstrap(fb.f_score("gold", "said", average="macro", labels=[1])),
        lambda: bootstrap(fb.f_score("gold", "said", zero_division=0.0)),
        lambda: bootstrap(fb.f_score("said", "gold")),
        lambda: bootstrap(fb.f_score("gold", "said", average=None))[1],
        lambda: bootstrap(fb.f_score("gold", "said", average=None))[0],
        lambda: bootstrap(fb.macro(fb.mean("x"), "site")),
        lambda: bootstrap(fb.macro(fb.mean("y"), "site")),
        lambda: bootstrap(fb.macro(fb.mean("x"), "site", skip_undefined=True)),
        lambda: bootstrap(Power("x", 2.0)),
        lambda: bootstrap(Power("x", 3.0)),
        lambda: bootstrap(fb.statistic(np.median, "x")),
        lambda: bootstrap(fb.statistic(np.mean, "x")),
        lambda: bootstrap([fb.mean("x"), fb.total("x")]),
        lambda: bootstrap({"one": "x", "two": "y"}),
    ],
    "designs": [
        bootstrap,
        lambda: bootstrap(groups="user"),
        lambda: bootstrap(groups=DATA["user"]),
        lambda: bootstrap(groups="seed"),
        lambda: bootstrap(strata="seed"),
        lambda: bootstrap(strata=["seed", "site"]),
        lambda: bootstrap(groups="user", levels="nested"),
        lambda: bootstrap(groups=["user", "seed"], levels="nested"),
        lambda: bootstrap(groups=["user", "seed"], levels="crossed"),
        lambda: bootstrap(weights="w"),
        lambda: bootstrap(weights="y"),
        lambda: bootstrap(scheme="bayesian"),
        lambda: bootstrap(scheme="poisson"),
        lambda: bootstrap(scheme="moving", block_length=3),
        lambda: bootstrap(scheme="moving", block_length=4),
        lambda: bootstrap(scheme="stationary", block_length=3),
        lambda: bootstrap(n_drawn=10),
        lambda: bootstrap(n_drawn=12),
        lambda: bootstrap(by="site"),
        lambda: bootstrap(by="seed"),
        lambda: bootstrap(by=["site", "seed"]),
        lambda: bootstrap(by="site")["Oslo"],
        lambda: bootstrap(by="site")["a|b"],
        lambda: bootstrap(by=["site", "seed"])["Oslo", 0],
        lambda: bootstrap(data=FEWER),
        lambda: bootstrap("hole", nan_policy="omit"),
    ],
    "runs": [
        bootstrap,
        lambda: bootstrap(rng=1),
        lambda: bootstrap(n_resamples=21),
        lambda: bootstrap(method="basic"),
        lambda: bootstrap(method="bca"),
        lambda: bootstrap(confidence_level=0.9),
        lambda: bootstrap(alternative="greater"),
        lambda: bootstrap(alternative="less"),
    ],
    "comparisons": [
        paired,
        swapped,
        unpaired,
        permuted,
        lambda: paired("y", "x"),
        lambda: paired(add_one=False),
        lambda: paired(alternative="greater"),
        lambda: swapped(add_one=False),
        lambda: swapped(groups="user"),
        lambda: swapped(by="site"),
        lambda: unpaired("x", "y"),
        lambda: unpaired("y", "x"),
        lambda: unpaired(data=(DATA, FEWER)),
        lambda: unpaired(data=(FEWER, DATA)),
        lambda: unpaired(groups=("user", "seed")),
        lambda: unpaired(groups="user"),
        lambda: unpaired(strata=("seed", "site")),
        lambda: unpaired(weights=("w", "y")),
        lambda: unpaired(weights="w"),
        lambda: permuted("x", "y"),
        lambda: permuted(strata="site"),
        lambda: permuted(groups="user"),
        lambda: permuted(weights="w"),
        lambda: paired([fb.mean("x"), fb.total("x")], [fb.mean("y"), fb.total("y")]),
        lambda: paired([fb.mean("x"), fb.total("x")], [fb.mean("y"), fb.total("w")]),
    ],
}


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_signature__tells_calls_apart(calls: Sequence[Callable[[], Any]]) -> None:
    """Two calls that differ in anything have different signatures; one call always the same."""
    signatures = [call().signature() for call in calls]
    for (i, one), (j, other) in itertools.combinations(enumerate(signatures), 2):
        assert one != other, (i, j)
    assert signatures == [call().signature() for call in calls]


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_signature__is_parsed(calls: Sequence[Callable[[], Any]]) -> None:
    """Keys come once and in one order, first what made the number, last how much data."""
    orders = [list(parsed(call().signature())) for call in calls]
    for order in orders:
        assert order[:2] == ["fastboot", "procedure"]
        at = order.index("n_resamples")
        assert order[at:][:5] == [
            "n_resamples", "seed", "method", "confidence_level", "alternative",
        ]  # fmt: skip
        assert "rule" not in order or order[at + 5 :][:2] == ["rule", "add_one"]
    ranks = [{key: place for place, key in enumerate(order)} for order in orders]
    for one, other in itertools.combinations(ranks, 2):
        shared = sorted(set(one) & set(other), key=one.__getitem__)
        assert shared == sorted(shared, key=other.__getitem__)


def test_signature__one_line() -> None:
    """What is quoted, word for word."""
    result = paired(
        fb.f_score("gold", "said", average="micro"), fb.f_score("gold", "gold", average="micro"),
        groups="user", method="bca", alternative="less",
    )  # fmt: skip
    assert result.signature() == (
        f"fastboot:{fb.__version__}|procedure:paired_bootstrap|"
        "a:f_score(gold,said,average=micro)|b:f_score(gold,gold,average=micro)|groups:user|"
        "n_resamples:20|seed:0|method:bca|confidence_level:0.95|alternative:less|"
        "rule:shift|add_one:True|n_rows:24|n_units:12"
    )


def test_signature__values_are_quoted() -> None:
    """A separator in a name is no separator."""
    signature = bootstrap(by="site")["a|b"].signature()
    assert "|slice:'a%7Cb'|" in signature
    assert parsed(signature)["slice"] == "'a|b'"
    assert signature_line({"a": "x%y|z\n", "b": "p:q"}) == "a:x%25y%7Cz%0A|b:p:q"
    assert parsed("a:x%25y%7Cz%0A|b:p:q") == {"a": "x%y|z\n", "b": "p:q"}


def test_signature__dropped_rows() -> None:
    """Rows that were dropped say by which policy; a policy without effect is not named."""
    dropped = parsed(bootstrap("hole", nan_policy="omit").signature())
    assert (dropped["nan_policy"], dropped["n_dropped"], dropped["n_rows"]) == ("omit", "1", "23")
    assert bootstrap(nan_policy="omit").signature() == bootstrap().signature()


def test_signature__what_does_not_matter() -> None:
    """Threads change nothing, nor where the table comes from."""
    assert bootstrap(n_threads=2).signature() == bootstrap(n_threads=1).signature()
    table = pl.DataFrame({"x": DATA["x"], "user": DATA["user"]})
    of_polars = bootstrap(data=table, groups="user")
    assert of_polars.signature() == bootstrap(groups="user").signature()


def test_signature__enumerated_whole() -> None:
    """A table says what its slices did, of all rows their number."""
    table = swapped(by="site", groups="user", n_resamples=5_000)
    assert table.total.exact
    figures = parsed(table.signature())
    assert (figures["n_resamples"], figures["n_rows"], figures["n_units"]) == ("5000", "24", "12")
    assert "slice" not in figures


def test_signature__reproduces() -> None:
    """A run from what a signature says gives the same replicates."""
    result = fb.bootstrap(fb.f_score("gold", "said", pos_label=0), data=DATA, groups="user")
    said = parsed(result.signature())
    call = re.fullmatch(r"(\w+)\((\w+),(\w+),pos_label=(\d+)\)", said["statistic"])
    assert call is not None
    again: Any = getattr(fb, said["procedure"])(
        getattr(fb, call[1])(call[2], call[3], pos_label=int(call[4])),
        data=DATA,
        groups=said["groups"],
        rng=int(said["seed"]),
        n_resamples=int(said["n_resamples"]),
    )
    np.testing.assert_array_equal(result.replicates, again.replicates)


def test_signature__of_dates() -> None:
    """A slice that is no string or number is named by its text."""
    days = [dt.date(2026, 1, 1 + row % 2) for row in range(N)]
    table: Any = bootstrap(by=[days])
    assert parsed(table[dt.date(2026, 1, 2)].signature())["slice"] == "'2026-01-02'"


# The words of a call


@pytest.mark.parametrize(
    "value,shown",
    [
        ("score", "score"),
        ("my score", "'my score'"),
        ("1", "'1'"),
        ("None", "'None'"),
        ("values", "'values'"),
        ("a,b", "'a,b'"),
        (1, "1"),
        (np.int64(1), "1"),
        (2.5, "2.5"),
        (None, "None"),
        (True, "True"),
        (["a", 1, "1"], "[a,1,'1']"),
        (("a", ("b",)), "[a,[b]]"),
        ({"tp": "x", "fp": [1]}, "{tp=x,fp=[1]}"),
        (np.arange(3), "values"),
        (np.median, "median"),
        (str.lower, "str.lower"),
        (fb.Column("gold", "label"), "gold"),
        (fb.Column(np.arange(3)), "values"),
        (fb.mean("x"), "mean(x)"),
        ([0.5] * 2_000, "values"),
        (dt.date(2026, 1, 2), "values"),
    ],
)
def test_words(value: Any, shown: str) -> None:
    """Strings and numbers are told apart, data are not shown."""
    assert shown == words(value)


def test_words__long_lists() -> None:
    """A long list is told from others by its length and a checksum."""
    lists = [list(range(13)), list(range(1, 14)), list(range(14)), list("abcdefghijklmn")]
    shown = [words(one) for one in lists]
    assert all(re.fullmatch(r"\[1[34] values, crc32 [0-9a-f]{8}\]", one) for one in shown)
    assert len(set(shown)) == 4


@pytest.mark.parametrize(
    "statistic,call",
    [
        (fb.mean("x"), "mean(x)"),
        (fb.f_score(tp="tp", fp="fp", fn="fn", beta=2), "f_score(tp=tp,fp=fp,fn=fn,beta=2)"),
        (fb.f_score("gold", "said", average=None), "f_score(gold,said,average=None)"),
        (fb.quantile("x", q=0.5), "quantile(x,0.5)"),
        (fb.krippendorff_alpha("a", "b", level="ordinal"), "krippendorff_alpha(a,b,level=ordinal)"),
        (fb.exact_match("a", "b", normalize=str.lower), "exact_match(a,b,normalize=str.lower)"),
        (fb.macro(fb.mean("x"), by="site"), "macro(mean(x),site)"),
        (
            fb.combine(min, fb.precision("g", "p"), fb.recall("g", "p"), name="low"),
            "combine(min,precision(g,p),recall(g,p),name=low)",
        ),
        (fb.statistic(np.median, "x", name="m"), "statistic(median,x,name=m)"),
        (Power("x", 2.0), "Power(x,exponent=2.0)"),
    ],
)
def test_call(statistic: Any, call: str) -> None:
    """The call that made a statistic, without what is the default."""
    assert call == statistic.call


def test_call__every_factory() -> None:
    """Every public statistic remembers its call."""
    made = [
        fb.mean, fb.total, fb.median, fb.minimum, fb.maximum, fb.interquartile_mean, fb.std,
        fb.variance, fb.skewness, fb.geometric_mean, fb.harmonic_mean,
    ]  # fmt: skip
    pairs = [
        fb.accuracy, fb.agreement, fb.average_precision, fb.balanced_accuracy, fb.brier_score,
        fb.calibration_error, fb.cohen_kappa, fb.confusion_cells, fb.exact_match, fb.f_score,
        fb.fleiss_kappa, fb.jaccard, fb.kendall, fb.krippendorff_alpha, fb.log_loss, fb.mae,
        fb.matthews, fb.pearson, fb.precision, fb.r_squared, fb.ratio, fb.recall, fb.rmse,
        fb.roc_auc, fb.spearman, fb.specificity, fb.ter, fb.token_f1, fb.weighted_mean,
        fb.win_rate, fb.word_error_rate,
    ]  # fmt: skip
    calls: list[Any] = [*((one, ("x",)) for one in made), *((two, ("x", "y")) for two in pairs)]
    for factory, columns in calls:
        assert f"{factory.__name__}({','.join(columns)})" == factory(*columns).call


def test_signature__how_words_were_counted() -> None:
    """In sacreBLEU's words, with the counts of its functions; a pickle keeps them."""
    texts = ["The cat sat"], ["the cat sat on"]
    version = importlib.metadata.version("sacrebleu")
    by_word = fb.text.bleu_counts(*texts)
    by_character = pickle.loads(  # noqa: S301 - just pickled
        pickle.dumps(fb.text.bleu_counts(*texts, tokenize="char", lowercase=True))
    )
    for counts, said in ((by_word, "case:mixed,tok:13a"), (by_character, "case:lc,tok:char")):
        found = fb.bootstrap(fb.bleu(counts), rng=0, n_resamples=9)
        assert f"|statistic:bleu(nrefs:1,{said},version:{version})|" in found.signature()
    assert fb.text.ter_counts(*texts).signature.startswith("nrefs:1|case:lc|tok:tercom|")
    assert fb.text.chrf_counts(*texts, word_order=2).signature == (
        f"nrefs:1|case:mixed|nc:6|nw:2|space:no|version:{version}"
    )
