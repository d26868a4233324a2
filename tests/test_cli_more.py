"""The commands beside `compare`: rank, gate, ttest and size; and all metrics."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.metrics as sk
from scipy import stats
from test_cli import Done, words_of

import fastboot as fb
from fastboot import cli
from fastboot.cli.metrics import METRICS, Metric
from fastboot.companions.t_test import paired_t_test

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N_ROWS = 120
MANY = [f"many{number:02}" for number in range(25)]
FEW = ("--systems", "good,fair,poor")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run a command in this process, on an output 100 columns wide unless said otherwise."""

    def run(*words: object, width: int = 100) -> Done:
        monkeypatch.setenv("COLUMNS", str(width))
        code = cli.run([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    """Labels, predictions, scores and numbers of N_ROWS items."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 3, N_ROWS)
    seen = rng.integers(0, 2, N_ROWS)
    truth = rng.normal(size=N_ROWS)

    def predicted(share: float) -> Any:
        return np.where(rng.random(N_ROWS) < share, gold, (gold + 1) % 3)

    return {
        "gold": gold,
        "good": predicted(0.9),
        "fair": predicted(0.6),
        "poor": predicted(0.3),
        "seen": seen,
        "word": np.where(seen == 1, "yes", "no"),
        "p": np.clip(0.5 + 0.3 * (seen - 0.5) + rng.normal(0.0, 0.15, N_ROWS), 0.02, 0.98),
        "q": np.clip(0.5 + 0.1 * (seen - 0.5) + rng.normal(0.0, 0.15, N_ROWS), 0.02, 0.98),
        "truth": truth,
        "near": truth + rng.normal(0.0, 0.3, N_ROWS),
        "far": truth + rng.normal(0.0, 1.5, N_ROWS),
        "far, by name": truth + rng.normal(0.0, 1.5, N_ROWS),
        "document": np.arange(N_ROWS) // 4,
        "site": np.arange(N_ROWS) // 4 % 2,
        "language": np.where(np.arange(N_ROWS) % 3 == 0, "de", "fr"),
        **{name: predicted(0.5 + 0.02 * place) for place, name in enumerate(MANY)},
    }


@pytest.fixture(scope="module")
def path(columns: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The columns as a file."""
    path = tmp_path_factory.mktemp("more") / "items.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def answer(done: Done) -> dict[str, Any]:
    """The JSON answer without what differs from run to run."""
    found: dict[str, Any] = json.loads(done.out)
    found.pop("elapsed", None)
    return found


# ---------------------------------------------------------------------------- metrics


def test_metrics__all_are_made() -> None:
    """Every word of --metric has its recipe."""
    assert get_args(Metric) == tuple(METRICS)


@pytest.mark.parametrize(
    "metric,a,b,gold,trusted",
    [
        ("median", "near", "far", None, lambda _, own: np.median(own)),
        ("balanced-accuracy", "good", "poor", "gold", sk.balanced_accuracy_score),
        ("macro-f1", "good", "poor", "gold", lambda g, o: sk.f1_score(g, o, average="macro")),
        ("micro-f1", "good", "poor", "gold", lambda g, o: sk.f1_score(g, o, average="micro")),
        ("weighted-f1", "good", "poor", "gold", lambda g, o: sk.f1_score(g, o, average="weighted")),
        ("matthews", "good", "poor", "gold", sk.matthews_corrcoef),
        ("kappa", "good", "poor", "gold", sk.cohen_kappa_score),
        ("auc", "p", "q", "seen", sk.roc_auc_score),
        ("average-precision", "p", "q", "seen", sk.average_precision_score),
        ("log-loss", "p", "q", "seen", sk.log_loss),
        ("brier", "p", "q", "seen", sk.brier_score_loss),
        ("pearson", "near", "far", "truth", lambda g, o: stats.pearsonr(g, o)[0]),
        ("spearman", "near", "far", "truth", lambda g, o: stats.spearmanr(g, o)[0]),
        ("kendall", "near", "far", "truth", lambda g, o: stats.kendalltau(g, o)[0]),
        ("rmse", "near", "far", "truth", sk.root_mean_squared_error),
        ("mae", "near", "far", "truth", sk.mean_absolute_error),
        ("r2", "near", "far", "truth", sk.r2_score),
    ],
)
def test_compare__metric(
    run: Callable[..., Done],
    path: Path,
    columns: dict[str, Any],
    metric: Metric,
    a: str,
    b: str,
    gold: str | None,
    trusted: Callable[[Any, Any], float],
) -> None:
    """Each metric against scikit-learn, SciPy or NumPy."""
    second = () if gold is None else ("--gold", gold)
    words = ("--a", a, "--b", b, *second, "--metric", metric, "--resamples", 9, "--json")
    found = answer(run("compare", path, *words))

    # Sums of N_ROWS terms of one size, each rounded: N_ROWS x 2.2e-16 is 3e-14.
    for system, estimate in ((a, "estimate_a"), (b, "estimate_b")):
        value = trusted(None if gold is None else columns[gold], columns[system])
        assert found[estimate] == pytest.approx(value, rel=1e-13, abs=0.0)


def test_compare__positive_of_scores(
    run: Callable[..., Done], path: Path, columns: dict[str, Any]
) -> None:
    """With scores the label is one of --gold."""
    words = ("compare", path, "--a", "p", "--b", "q", "--gold", "word", "--metric", "auc")
    found = answer(run(*words, "--positive", "yes", "--resamples", 9, "--json"))
    numbers = answer(run(*words[:-3], "seen", *words[-2:], "--resamples", 9, "--json"))
    wrong = run(*words, "--positive", "0.5")

    assert found["estimate_a"] == numbers["estimate_a"]
    assert wrong.err == (
        "fastboot: --positive 0.5 is no label of these columns; they hold: "
        f"{', '.join(dict.fromkeys(columns['word']))}.\n"
    )


# ---------------------------------------------------------------------------- rank


def test_rank__is_the_library(run: Callable[..., Done], path: Path) -> None:
    """The command gives what the call gives."""
    done = run(
        "rank", path, *FEW, "--gold", "gold", "--metric", "macro-f1", "--metric", "accuracy",
        "--groups", "document", "--strata", "site", "--by", "language", "--correction", "max_t",
        "--against", "fair", "--alternative", "greater", "--method", "basic", "--resamples", 199,
        "--confidence-level", 0.9, "--seed", 3, "--threads", 1, "--json",
    )  # fmt: skip
    expected = json.loads(
        fb.compare(
            ["good", "fair", "poor"],
            data=path,
            metrics={
                "macro-f1": lambda own: fb.f_score("gold", own, average="macro"),
                "accuracy": lambda own: fb.accuracy("gold", own),
            },
            groups="document",
            strata=["site"],
            by=["language"],
            correction="max_t",
            against="fair",
            alternative="greater",
            method="basic",
            n_resamples=199,
            confidence_level=0.9,
            rng=3,
        ).to_json()
    )
    del expected["elapsed"]

    assert (done.code, done.err) == (0, "")
    assert expected == answer(done)


def test_rank__randomization(run: Callable[..., Done], path: Path) -> None:
    """Permutations of all systems, with their name."""
    words = ("rank", path, *FEW, "--gold", "gold", "--test", "randomization", "--resamples", 99)
    said = words_of(run(*words, "--null", "permutations", "--seed", 1).out)
    found = answer(run(*words, "--null", "permutations", "--seed", 1, "--json"))

    assert "test two sided randomization" in said
    assert found["null"] == "permutations"


def test_rank__shows_systems_and_pairs(run: Callable[..., Done], path: Path) -> None:
    """The best system first, the better of each pair first, values as of the library, the seed."""
    done = run("rank", path, "--system", "poor", "--systems", "fair, good", "--gold", "gold",
               "--resamples", 199, "--seed", 7)  # fmt: skip
    comparison = fb.compare(
        ["fair", "good", "poor"],
        data=path,
        metrics={"accuracy": lambda own: fb.accuracy("gold", own)},
        n_resamples=199,
        rng=7,
    )
    lines = [line.split() for line in done.out.splitlines()]
    pair = comparison.pair("good", "poor")
    low, high = (f"{bound:+.3f}" for bound in (pair.low, pair.high))

    assert (done.code, done.err) == (0, "")
    assert "accuracy against gold: 3 systems, 120 rows, higher is better" in done.out
    assert [line[:2] for line in lines if line[:1] in (["1"], ["2"], ["3"])] == [
        ["1", "good"],
        ["2", "fair"],
        ["3", "poor"],
    ]
    pairs = [line for line in lines if line[:1] in (["good"], ["fair"])]
    assert [line[:2] for line in pairs] == [["good", "fair"], ["good", "poor"], ["fair", "poor"]]
    assert pairs[1][2:6] == [f"{pair.estimate:+.3f}", low, "to", high]
    assert ["seed", "7"] in lines
    assert ["resamples", "199"] in lines


def test_rank__one_sided_pairs_are_not_turned(run: Callable[..., Done], path: Path) -> None:
    """What was tested as a > b is shown as a - b, though b is better."""
    words = ("--systems", "poor,good", "--gold", "gold", "--alternative", "greater")
    said = run("rank", path, *words, "--resamples", 99, "--seed", 0).out

    assert re.search(r"poor +good +-0\.\d+ +-0\.\d+ to \+inf +1 +1", said)


def test_rank__long_lists_are_elided(run: Callable[..., Done], path: Path) -> None:
    """20 of 25 systems, 20 of 300 pairs, and how many are left out; --json has them."""
    words = ("rank", path, "--systems", ",".join(MANY), "--gold", "gold", "--resamples", 99)
    done = run(*words)
    found = answer(run(*words, "--json"))

    assert "... 5 more systems (--json has all)" in done.out
    assert "... 280 more pairs (--json has all)" in done.out
    assert (len(found["systems"]), len(found["pairs"])) == (25, 300)


@pytest.mark.parametrize("width", [45, 60, 80, 120])
@pytest.mark.parametrize("systems", ["good,fair,poor", ",".join(MANY)])
def test_rank__fits(run: Callable[..., Done], path: Path, width: int, systems: str) -> None:
    """No line is wider than the terminal; what has no room is named, and nothing is torn."""
    words = ("rank", path, "--systems", systems, "--gold", "gold", "--resamples", 99)
    out = run(*words, width=width).out
    lines = [line.rstrip() for line in out.splitlines()]

    assert max(map(len, lines)) <= width
    assert ("no room for:" in out) is (width < 80)
    assert sum(line.startswith("rank  system") for line in lines) == 1  # headings in one line
    assert "value" in out


@pytest.mark.parametrize(
    "options,best",
    [
        (("--metric", "rmse"), "near"),
        (("--metric", "rmse", "--higher-is-better"), "far"),
        (("--metric", "pearson"), "near"),
        (("--metric", "pearson", "--lower-is-better"), "far"),
    ],
)
def test_rank__direction(
    run: Callable[..., Done], path: Path, options: tuple[str, ...], best: str
) -> None:
    """A metric knows which way is better; an option knows better."""
    words = ("--system", "far", "--system", "near", "--gold", "truth", *options)
    found = answer(run("rank", path, *words, "--resamples", 9, "--json"))

    assert found["systems"][0]["system"] == best


def test_rank__names_with_commas(run: Callable[..., Done], path: Path) -> None:
    """--system takes any name."""
    words = ("--system", "far, by name", "--system", "near", "--metric", "mean")

    assert "far, by name" in run("rank", path, *words, "--resamples", 9).out


def test_rank__notes_speak_of_options(run: Callable[..., Done], path: Path) -> None:
    """What the library says of arguments is said of options."""
    done = run("rank", path, *FEW, "--gold", "gold", "--against", "best", "--resamples", 99)

    assert "note: the best system was chosen by the same data" in done.out
    assert "with --against all it does" in " ".join(done.out.split())


@pytest.mark.parametrize(
    "options,line",
    [
        (
            ("--systems", "good", "--gold", "gold"),
            "rank needs two systems at least: --systems A,B,... or --system COLUMN for each.",
        ),
        (
            ("--gold", "gold"),
            "rank needs two systems at least: --systems A,B,... or --system COLUMN for each.",
        ),
        (
            ("--systems", "good,fair", "--system", "good", "--gold", "gold"),
            "--systems names 'good' twice; leave one of them out.",
        ),
        (
            (*FEW, "--metric", "accuracy", "--metric", "nonsense"),
            f"--metric nonsense is unknown; choose one of {', '.join(METRICS)}.",
        ),
        (
            (*FEW, "--gold", "gold", "--null", "swaps"),
            "--null goes with --test randomization.",
        ),
        (
            (*FEW, "--gold", "gold", "--metric", "mean", "--metric", "median"),
            "--metric mean, median does not use --gold; leave one of them out.",
        ),
        (
            (*FEW, "--metric", "mean", "--metric", "kappa"),
            "--metric kappa needs --gold COLUMN.",
        ),
        (
            (*FEW, "--gold", "gold", "--against", "nobody"),
            '--against is \'nobody\'; choose "all", "best" or a system: good, fair, poor',
        ),
        (
            ("--systems", "p,q", "--metric", "median", "--test", "randomization"),
            (
                "--test is 'randomization', which many systems have in statistics of sums only; "
                "median is none: use --test bootstrap, or fastboot compare --test randomization "
                "for a pair"
            ),
        ),
        (
            ("--systems", "good,word"),
            (
                "--systems (column 'word') holds strings; a score must be a number. For labels, "
                "name the right ones with --gold COLUMN."
            ),
        ),
        (
            ("--systems", "p,q", "--gold", "seen", "--metric", "auc", "--test", "randomization"),
            (
                "--test is 'randomization', which many systems have in statistics of sums only; "
                "roc_auc is none: use --test bootstrap, or fastboot compare --test randomization "
                "for a pair"
            ),
        ),
    ],
)
def test_rank__refused(
    run: Callable[..., Done], path: Path, options: tuple[str, ...], line: str
) -> None:
    """One line on stderr, in options, and exit code 2."""
    assert run("rank", path, *options) == Done(2, "", f"fastboot: {line}\n")


def test_rank__unknown_column(run: Callable[..., Done], path: Path) -> None:
    """The option that names the systems is named."""
    done = run("rank", path, "--systems", "good,none", "--gold", "gold")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("fastboot: --systems: no column 'none' in data; there are: ")


# ---------------------------------------------------------------------------- gate


def gated(path: Path, candidate: str, baseline: str, margin: float, *more: object) -> list[object]:
    """The words of a gate."""
    return ["gate", path, "--candidate", candidate, "--baseline", baseline, "--margin", margin,
            "--resamples", 499, "--seed", 2, *more]  # fmt: skip


@pytest.mark.parametrize(
    "candidate,baseline,margin,options,code,outcome,words",
    [
        ("good", "fair", 0.1, (), 0, "passed", "good is not worse than fair by 0.1 or more"),
        ("poor", "fair", 0.1, (), 1, "refuted", "poor is worse than fair by more than 0.1"),
        ("fair", "fair", 0.0, (), 1, "undecided", "fair may be worse than fair (not shown either"),
        ("many12", "many13", 0.01, (), 1, "undecided",
         "many12 may be worse than many13 by 0.01 or more (not shown either way)"),
        ("good", "fair", 0.1, ("--kind", "superiority"), 0, "passed",
         "good is better than fair by more than 0.1"),
        ("good", "fair", 0.9, ("--kind", "superiority"), 1, "refuted",
         "good is not better than fair by 0.9 or more"),
        ("many12", "many13", 0.01, ("--kind", "superiority"), 1, "undecided",
         "many12 may not be better than many13 by more than 0.01 (not shown either way)"),
        ("fair", "fair", 0.1, ("--kind", "equivalence"), 0, "passed",
         "fair differs from fair by less than 0.1"),
        ("good", "poor", 0.1, ("--kind", "equivalence"), 1, "refuted",
         "good differs from poor by more than 0.1"),
        ("many12", "many13", 0.01, ("--kind", "equivalence"), 1, "undecided",
         "many12 may differ from many13 by 0.01 or more (not shown either way)"),
        ("good", "fair", 0.1, ("--lower-is-better",), 1, "refuted",
         "good is worse than fair by more than 0.1"),
    ],
)  # fmt: skip
def test_gate(
    run: Callable[..., Done],
    path: Path,
    candidate: str,
    baseline: str,
    margin: float,
    options: tuple[str, ...],
    code: int,
    outcome: str,
    words: str,
) -> None:
    """The exit code, one line that says what is shown, and the same as JSON."""
    command = gated(path, candidate, baseline, margin, "--gold", "gold", *options)
    done, found = run(*command), run(*command, "--json")
    told = json.loads(found.out)

    assert (done.code, found.code, done.err) == (code, code, "")
    assert done.out.startswith(f"{'failed' if code else 'passed'}: {words}")
    assert done.out.splitlines()[0].endswith("(one-sided 95 % each, percentile, seed 2)")
    assert (told["outcome"], told["passed"]) == (outcome, code == 0)


def test_gate__is_the_library(run: Callable[..., Done], path: Path) -> None:
    """The verdict of the result, which is there too; errors are better when lower."""
    words = gated(path, "near", "far", 0.2, "--gold", "truth", "--metric", "rmse", "--alpha", 0.01,
                  "--method", "basic", "--groups", "document")  # fmt: skip
    found = json.loads(run(*words, "--json").out)
    result = fb.paired_bootstrap(
        fb.rmse("truth", "near"), fb.rmse("truth", "far"), data=path, groups="document",
        method="basic", n_resamples=499, rng=2,
    )  # fmt: skip
    verdict = result.verdict(0.2, kind="non-inferiority", alpha=0.01, higher_is_better=False)
    expected = json.loads(result.to_json())
    del expected["elapsed"], found["result"]["elapsed"]

    assert found["result"] == expected
    assert {name: found[name] for name in json.loads(verdict.to_json()) if name != "kind"} == {
        name: value for name, value in json.loads(verdict.to_json()).items() if name != "kind"
    }
    assert (found["kind"], found["candidate"], found["baseline"]) == ("Gate", "near", "far")


def test_gate__undefined(run: Callable[..., Done], tmp_path: Path) -> None:
    """A difference that is 0 / 0 does not pass; the line says why."""
    path = tmp_path / "undefined.csv"
    path.write_text("gold,x,y\n1,0,1\n0,0,0\n", encoding="utf-8")
    done = run(*gated(path, "x", "y", 0.5, "--gold", "gold", "--metric", "precision"))

    assert done.code == 1
    assert done.out.startswith("failed: x cannot be held against y; precision undefined against 1")
    assert "nan" not in done.out


def test_rank__advises_what_can_be_done(run: Callable[..., Done], path: Path) -> None:
    """The command that a refusal names answers."""
    words = ("compare", path, "--a", "p", "--b", "q", "--metric", "median")
    assert run(*words, "--test", "randomization", "--resamples", 99).code == 0


def test_rank__system_named_best(run: Callable[..., Done], tmp_path: Path) -> None:
    """`--against best` would mean two things."""
    path = tmp_path / "named.csv"
    path.write_text("best,z\n1,0\n2,1\n", encoding="utf-8")
    assert run("rank", path, "--systems", "best,z", "--against", "best") == Done(
        2,
        "",
        "fastboot: --against is 'best', which is a system too; rename the system, or set another "
        "--against\n",
    )
    assert run("rank", path, "--systems", "best,z", "--resamples", 9).code == 0


@pytest.mark.parametrize("options", [(), ("--method", "normal")])
def test_gate__resamples_of_its_level(
    run: Callable[..., Done], path: Path, options: tuple[str, ...]
) -> None:
    """As few as the level allows, and fewer where limits are no resamples."""
    words = gated(path, "good", "poor", 0, "--gold", "gold", "--alpha", 0.01, "--seed", 1)
    assert run(*words, "--resamples", 9 if options else 99, *options).code == 0


@pytest.mark.parametrize("n_rows,note", [(1, "a single row"), (2, "all replicates are equal")])
@pytest.mark.parametrize("kind", ["superiority", "non-inferiority", "equivalence"])
def test_gate__nothing_about_the_uncertainty(
    run: Callable[..., Done], tmp_path: Path, n_rows: int, note: str, kind: str
) -> None:
    """One item, or two that differ alike, pass nothing; the line says why."""
    path = tmp_path / "few.csv"
    path.write_text("x,y\n" + "0.75,0.25\n" * n_rows, encoding="utf-8")
    words = gated(path, "x", "y", 0.9 if kind == "equivalence" else 0.1, "--kind", kind)
    done, told = run(*words), json.loads(run(*words, "--json").out)

    assert done.code == 1
    assert done.out.startswith(f"failed: x cannot be held against y: {note}")
    assert told["outcome"] == "undecided"
    assert told["note"].startswith(note)


@pytest.mark.parametrize(
    "words,line",
    [
        ((), "Missing option '--candidate'."),
        (("--candidate", "good"), "Missing option '--baseline'."),
        (("--candidate", "good", "--baseline", "fair"), "Missing option '--margin'."),
        (
            ("--candidate", "good", "--baseline", "fair", "--margin", "-0.1"),
            "--margin is -0.1; it must be 0 or more, --kind says its direction",
        ),
        (
            ("--candidate", "good", "--baseline", "fair", "--margin", 0, "--kind", "equivalence"),
            "--margin is 0; equivalence needs a margin above 0",
        ),
        (
            ("--candidate", "good", "--baseline", "fair", "--margin", 0, "--alpha", 0.7),
            "--alpha is 0.7; it must lie between 0 and 0.5, such as 0.05",
        ),
        (
            (
                "--candidate",
                "good",
                "--baseline",
                "fair",
                "--margin",
                0,
                "--alpha",
                0.0001,
                "--resamples",
                99,
            ),
            (
                "--alpha is 0.0001 but --resamples 99; limits at this level need --resamples 9999 "
                "at least, or --method normal"
            ),
        ),
        (
            ("--candidate", "good", "--baseline", "fair", "--margin", 0, "--alpha", 0.00001),
            (
                "--alpha is 1e-05 but --resamples 9999; limits at this level need --resamples "
                "99999 at least, or --method normal"
            ),
        ),
        (
            ("--candidate", "good", "--baseline", "word", "--margin", 0),
            (
                "--baseline (column 'word') holds strings; a score must be a number. For labels, "
                "name the right ones with --gold COLUMN."
            ),
        ),
    ],
)
def test_gate__refused(
    run: Callable[..., Done], path: Path, words: tuple[object, ...], line: str
) -> None:
    """Bad usage is exit code 2, never 1: a gate that cannot be asked has not failed."""
    assert run("gate", path, *words) == Done(2, "", f"fastboot: {line}\n")


# ---------------------------------------------------------------------------- ttest


@pytest.mark.parametrize("grouped", [False, True])
def test_ttest__is_the_library(run: Callable[..., Done], path: Path, *, grouped: bool) -> None:
    """The command gives what the call gives, and shows its figures and verdict."""
    groups = ("--groups", "document") if grouped else ()
    words = ("ttest", path, "--a", "near", "--b", "far", *groups, "--resamples", 199, "--seed", 5)
    found = answer(run(*words, "--json"))
    said = words_of(run(*words).out)
    result = paired_t_test(
        "near", "far", data=path, groups="document" if grouped else None, n_resamples=199, rng=5
    )
    expected = json.loads(result.to_json())
    del expected["bootstrap"]["elapsed"], found["bootstrap"]["elapsed"]

    assert expected == found
    assert words_of(result.verdict) in said
    assert f"{result.degrees_of_freedom} degrees of freedom" in said
    assert f"p value {result.pvalue:.3g} two sided".replace("-", " ") in said
    assert ("groups by document" in said) is grouped


def test_ttest__without_resamples(run: Callable[..., Done], path: Path) -> None:
    """No bootstrap, no seed."""
    done = run("ttest", path, "--a", "near", "--b", "far", "--resamples", 0)

    assert (done.code, done.err) == (0, "")
    assert "bootstrap" not in done.out
    assert "seed" not in done.out


def test_ttest__degenerate(run: Callable[..., Done], path: Path) -> None:
    """A system against itself: words, no nan."""
    done = run("ttest", path, "--a", "near", "--b", "near", "--resamples", 9)

    assert "nan" not in done.out
    assert "note: degenerate: all differences are equal" in done.out


def test_ttest__says_nothing(run: Callable[..., Done], tmp_path: Path) -> None:
    """Of equal differences the bootstrap beside the test has no p-value, as in the summary."""
    table = tmp_path / "equal.csv"
    table.write_text("x,y\n2,1\n3,2\n5,4\n")
    done = run("ttest", table, "--a", "x", "--b", "y", "--resamples", 99)
    result = paired_t_test("x", "y", data=str(table), n_resamples=99)

    assert "paired bootstrap says nothing" in result.summary()
    assert "p value, bootstrap says nothing" in words_of(done.out).replace("-", " ")
    assert "0.01" not in done.out


def test_ttest__a_number_of_resamples_that_cannot_be(run: Callable[..., Done], path: Path) -> None:
    """0 can."""
    done = run("ttest", path, "--a", "near", "--b", "far", "--resamples", -1)

    assert done == Done(
        2, "", "fastboot: --resamples is -1; it must lie between 0 and 4,294,967,296\n"
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_ttest__fits(run: Callable[..., Done], path: Path, width: int) -> None:
    """No line is wider than the terminal."""
    out = run("ttest", path, "--a", "near", "--b", "far", "--resamples", 9, width=width).out

    assert max(map(len, out.splitlines())) <= width


def test_ttest__refused(run: Callable[..., Done], path: Path) -> None:
    """What the library refuses is said in options."""
    done = run("ttest", path, "--a", "word", "--b", "far")

    assert done == Done(
        2, "", "fastboot: --a (column 'word') holds strings; a score must be a number.\n"
    )


# ---------------------------------------------------------------------------- size


@pytest.mark.parametrize(
    "options,n_items",
    [
        (("--half-width", 0.1), 97),
        (("--half-width", 0.01), 9_604),
        (("--effect", 0.02, "--discordance", 0.15), 3_028),
    ],
)
def test_size(run: Callable[..., Done], options: tuple[object, ...], n_items: int) -> None:
    """Rows of the classic table, and of the library's documentation."""
    done = run("size", *options)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{n_items:,} items: A ")
    assert json.loads(run("size", *options, "--json").out)["n_items"] == n_items


def test_size__all_options(run: Callable[..., Done]) -> None:
    """Every option arrives at its argument."""
    interval = ("--half-width", 0.02, "--proportion", 0.9, "--confidence-level", 0.9,
                "--method", "wilson", "--cluster-size", 4, "--icc", 0.1)  # fmt: skip
    test = ("--effect", 0.1, "--std-of-difference", 0.5, "--power", 0.9, "--alpha", 0.01,
            "--alternative", "greater")  # fmt: skip

    assert json.loads(run("size", *interval, "--json").out) == json.loads(
        fb.sample_size(
            half_width=0.02, proportion=0.9, confidence_level=0.9, method="wilson",
            cluster_size=4, icc=0.1,
        ).to_json()
    )  # fmt: skip
    assert json.loads(run("size", *test, "--json").out) == json.loads(
        fb.sample_size(
            effect=0.1, std_of_difference=0.5, power=0.9, alpha=0.01, alternative="greater"
        ).to_json()
    )
    assert json.loads(run("size", "--half-width", 0.1, "--std", 2, "--json").out) == json.loads(
        fb.sample_size(half_width=0.1, std=2.0).to_json()
    )


@pytest.mark.parametrize(
    "options,line",
    [
        (
            ("--effect", 0.1, "--half-width", 0.1),
            (
                "size got --effect, which does not belong to the half-width of a proportion; that "
                "takes --half-width, --proportion, --method, --confidence-level, --cluster-size, "
                "--icc"
            ),
        ),
        (("--half-width", -1), "--half-width is -1; it must be above 0"),
        (
            ("--half-width", 0.1, "--proportion", 1),
            "--proportion is 1, where the normal interval has no width; choose --method wilson",
        ),
        (
            ("--half-width", 0.1, "--icc", 0.1),
            "--icc is given but --cluster-size is not; clusters need both",
        ),
    ],
)
def test_size__refused(run: Callable[..., Done], options: tuple[object, ...], line: str) -> None:
    """What the library refuses is said in options."""
    assert run("size", *options) == Done(2, "", f"fastboot: {line}\n")


def test_size__nothing_asked(run: Callable[..., Done]) -> None:
    """Without a question: what can be asked."""
    done = run("size")

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("fastboot: size needs one of: --half-width and --std ")
