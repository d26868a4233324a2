"""The command line: one answer, or one line that says what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastboot as fb
from fastboot import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

THERE_ARE = (
    "there are: a, b, words, gold, x, y, truth, guess, document, holes, huge, text with [brackets]."
)
DEMO_COLUMNS = ("--a", "logistic", "--b", "naive_bayes")
# P5: Ctrl-C is answered within 0.5 s; the rest is for the process to leave on a busy machine.
SECONDS_TO_STOP = 0.5 + 4.5
# The first call on a new machine may compile for 15 s; four times that on a busy one.
SECONDS_TO_START = 60


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run a command in this process, on an output 100 columns wide."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Done:
        code = cli.run([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Six rows of every kind of column that a command can be pointed at."""
    columns = {
        "a": [1.0, 0.0, 1.0, 1.0, 0.0, 1.0],
        "b": [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        "words": [3, 4, 5, 3, 4, 5],
        "gold": ["spam", "ham", "spam", "ham", "ham", "spam"],
        "x": ["spam", "ham", "spam", "spam", "ham", "spam"],
        "y": ["ham", "ham", "spam", "ham", "ham", "spam"],
        "truth": [True, False, True, False, False, True],
        "guess": [True, False, True, True, False, True],
        "document": ["p", "p", "q", "q", "r", "r"],
        "holes": [1.0, None, 1.0, 0.0, None, 1.0],
        "huge": [1.0, 0.0, float("inf"), 0.0, 1.0, 0.0],
        "text with [brackets]": [1, 0, 1, 1, 0, 1],
    }
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def process(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, away from a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "fastboot", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def words_of(output: str) -> str:
    """What a table says, without its lines and line breaks."""
    return " ".join(output.translate(dict.fromkeys(map(ord, "│╭╮╰╯─|+-"), " ")).split())


# ---------------------------------------------------------------------------- answers


def test_demo__shows_the_answer(run: Callable[..., Done]) -> None:
    """Both systems, difference, interval, p-value, counts, seed, time; then the command."""
    done = run("demo", "--resamples", 999)
    said = words_of(done.out)

    assert (done.code, done.err) == (0, "")
    # Published counts: 2 tp / (2 tp + fp + fn) of 689, 4, 58 and of 692, 21, 55.
    assert f"logistic {2 * 689 / (2 * 689 + 4 + 58):.4f}" in said
    assert f"naive_bayes {2 * 692 / (2 * 692 + 21 + 55):.4f}" in said
    for part in ("difference 0.0090", "95 % interval", "value", "rows 5,574", "seed 0", "time"):
        assert part in said
    assert "units 5,159 groups by text" in said
    assert "resamples 999" in said


def test_demo__command_gives_the_same_answer(run: Callable[..., Done]) -> None:
    """The compare command that the demo prints can be pasted, and answers the same."""
    options = ("--resamples", 499, "--method", "basic", "--alternative", "greater", "--seed", 5)
    command = run("demo", *options).out.rstrip().rsplit("\n", 1)[-1]
    pasted = run(*shlex.split(command)[1:], "--json")
    demo = run("demo", *options, "--json")

    assert answer(demo) == answer(pasted)
    assert command.startswith("fastboot compare ")


def answer(done: Done) -> dict[str, object]:
    """The JSON answer without what differs from run to run."""
    result: dict[str, object] = json.loads(done.out)
    del result["elapsed"]
    return result


def test_compare__is_the_library(run: Callable[..., Done]) -> None:
    """The command gives what the call gives."""
    path = fb.example_path()
    done = run(
        "compare", path, *DEMO_COLUMNS, "--gold", "spam", "--groups", "text", "--seed", 7, "--json"
    )
    result = fb.paired_bootstrap(
        fb.accuracy("spam", "logistic"),
        fb.accuracy("spam", "naive_bayes"),
        data=path,
        groups="text",
        rng=7,
    )
    expected = json.loads(result.to_json())
    del expected["elapsed"]

    assert (0, "") == (done.code, done.err)
    assert expected == answer(done)


@pytest.mark.parametrize(
    "options,estimate_a,estimate_b",
    [
        (("--a", "a", "--b", "b"), 4 / 6, 2 / 6),
        (("--a", "a", "--b", "b", "--metric", "mean"), 4 / 6, 2 / 6),
        (("--a", "a", "--b", "b", "--metric", "total"), 4, 2),
        (("--a", "a", "--b", "b", "--metric", "ratio", "--denominator", "words"), 4 / 24, 2 / 24),
        (
            ("--a", "a", "--b", "b", "--metric", "weighted-mean", "--weights", "words"),
            16 / 24,
            10 / 24,
        ),
        (("--a", "x", "--b", "y", "--gold", "gold"), 5 / 6, 5 / 6),
        (
            ("--a", "x", "--b", "y", "--gold", "gold", "--metric", "f1", "--positive", "spam"),
            6 / 7,
            4 / 5,
        ),
        (
            (
                "--a",
                "x",
                "--b",
                "y",
                "--gold",
                "gold",
                "--metric",
                "precision",
                "--positive",
                "ham",
            ),
            1,
            3 / 4,
        ),
        (
            ("--a", "x", "--b", "y", "--gold", "gold", "--metric", "recall", "--positive", "ham"),
            2 / 3,
            1,
        ),
        (
            ("--a", "guess", "--b", "a", "--gold", "truth", "--metric", "f1", "--positive", "true"),
            6 / 7,
            6 / 7,
        ),
        (
            ("--a", "a", "--b", "b", "--gold", "a", "--metric", "f1", "--positive", "1"),
            1,
            2 / 3,
        ),
    ],
)
def test_compare__metrics(
    run: Callable[..., Done],
    table: Path,
    options: tuple[str, ...],
    estimate_a: float,
    estimate_b: float,
) -> None:
    """Each metric against its value by hand; accuracy is the default with --gold, else mean."""
    found = answer(run("compare", table, *options, "--seed", 0, "--resamples", 9, "--json"))

    # A handful of float64 operations.
    assert found["estimate_a"] == pytest.approx(estimate_a, rel=1e-15)
    assert found["estimate_b"] == pytest.approx(estimate_b, rel=1e-15)


def test_compare__randomization(run: Callable[..., Done], table: Path) -> None:
    """The swap test; its p-value is exact here, for 2 of 6 items differ."""
    words = ("compare", table, "--a", "a", "--b", "b", "--test", "randomization")
    said = words_of(run(*words).out)

    assert "Approximate randomization: mean" in said
    assert "normal" in said
    assert "p value 0.5 two sided, exact" in said


def test_compare__brackets_are_not_markup(run: Callable[..., Done], table: Path) -> None:
    """A column name is shown as it is."""
    done = run("compare", table, "--a", "text with [brackets]", "--b", "b", "--resamples", 9)

    assert "text with [brackets]" in done.out


def test_compare__notes_and_drops_are_shown(run: Callable[..., Done], table: Path) -> None:
    """What the reader must know stands below the table."""
    words = ("compare", table, "--a", "holes", "--b", "b", "--nan-policy", "omit")
    done = run(*words, "--groups", "document", "--resamples", 9)

    assert "note: only 3 groups" in done.out
    assert "note: 2 rows were dropped for a missing value" in done.out


def test_compare__undefined(run: Callable[..., Done], tmp_path: Path) -> None:
    """A statistic that is 0 / 0 is called undefined, not nan; the note says so, once."""
    path = tmp_path / "undefined.csv"
    path.write_text("gold,x,y\n1,0,1\n0,0,0\n", encoding="utf-8")
    words = ("compare", path, "--a", "x", "--b", "y", "--gold", "gold", "--metric", "precision")
    done = run(*words, "--resamples", 9)

    assert (done.code, done.err) == (0, "")
    assert "difference undefined 95 % interval undefined, percentile" in words_of(done.out)
    assert "nan" not in done.out
    assert done.out.count("9 of 9 replicates are undefined") == 1


def test_compare__constant(run: Callable[..., Done], table: Path) -> None:
    """A system against itself: no sign on 0, a point as interval, p = 1."""
    said = words_of(run("compare", table, "--a", "a", "--b", "a", "--resamples", 9).out)

    assert "difference 0 95 % interval 0, percentile standard error 0 p value 1" in said


def test_compare__one_sided(run: Callable[..., Done]) -> None:
    """A one-sided interval has one bound; the p-value names its side."""
    said = run("demo", "--alternative", "greater", "--resamples", 99).out

    assert " to +inf, percentile" in said
    assert "greater, Monte Carlo error" in said


@pytest.mark.parametrize("width", [60, 80, 120])
def test_table__fits(monkeypatch: pytest.MonkeyPatch, run: Callable[..., Done], width: int) -> None:
    """No line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    done = run("demo", "--resamples", 9)
    table = done.out.split("\n\n")[0]

    assert max(map(len, table.splitlines())) <= width


# ---------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "words,line",
    [
        (("nonsense",), "No such command 'nonsense'."),
        (("compare",), "Missing argument 'FILE'."),
        (("compare", "TABLE", "--a", "a"), "Missing option '--b'."),
        (("compare", "TABLE", "--a", "a", "--b", "b", "--zzz"), "No such option: --zzz"),
    ],
)
def test_usage__refused(
    run: Callable[..., Done], table: Path, words: tuple[str, ...], line: str
) -> None:
    """Bad usage gives one line on stderr and exit code 2."""
    done = run(*(table if word == "TABLE" else word for word in words))

    assert done == Done(2, "", f"fastboot: {line}\n")


@pytest.mark.parametrize(
    "option,value",
    [
        ("--resamples", "many"),
        ("--resamples", "1.5"),
        ("--seed", "x"),
        ("--threads", "x"),
        ("--confidence-level", "high"),
        ("--method", "best"),
        ("--metric", "bleurt"),
        ("--alternative", "better"),
        ("--test", "t"),
        ("--nan-policy", "guess"),
    ],
)
def test_option__unreadable(run: Callable[..., Done], table: Path, option: str, value: str) -> None:
    """A value of the wrong kind: one line that names the option (its end is typer's)."""
    done = run("compare", table, "--a", "a", "--b", "b", option, value)

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"fastboot: Invalid value for '{option}': ")
    assert "Value error" not in done.err


def test_option__unreadable_word(run: Callable[..., Done], table: Path) -> None:
    """Words of the user's own stay as they are."""
    done = run("compare", table, "--a", "a", "--b", "b", "--method", "': Value error, ")

    assert done.err.startswith(
        "fastboot: Invalid value for '--method': \"': Value error, \" is not one of 'percentile', "
    )


@pytest.mark.parametrize(
    "options,line",
    [
        (("--metric", "f1"), "--metric f1 needs --gold COLUMN."),
        (("--metric", "ratio"), "--metric ratio needs --denominator COLUMN."),
        (("--metric", "weighted-mean"), "--metric weighted-mean needs --weights COLUMN."),
        (
            ("--metric", "mean", "--gold", "gold"),
            "--metric mean does not use --gold; leave one of them out.",
        ),
        (
            ("--gold", "gold", "--weights", "words"),
            "--metric accuracy does not use --weights; leave one of them out.",
        ),
        (
            ("--denominator", "words"),
            "--metric mean does not use --denominator; leave one of them out.",
        ),
        (
            ("--gold", "gold", "--positive", "spam"),
            (
                "--metric accuracy does not use --positive; precision, recall, f1, auc, "
                "average-precision, log-loss, brier do."
            ),
        ),
        (
            ("--test", "randomization", "--method", "bca"),
            "--method goes with --test bootstrap; randomization has a normal interval only.",
        ),
        (
            ("--metric", "f1", "--gold", "gold", "--positive", "eggs"),
            "--positive eggs is no label of these columns; they hold: spam, ham.",
        ),
    ],
)
def test_options__contradict(
    run: Callable[..., Done], table: Path, options: tuple[str, ...], line: str
) -> None:
    """Options that do not go together are refused, and the line names both."""
    done = run("compare", table, "--a", "x", "--b", "y", *options)

    assert done == Done(2, "", f"fastboot: {line}\n")


BAD_FILES = [
    ("missing.parquet", None, "'missing.parquet': there is no such file."),
    ("empty.csv", b"", "'empty.csv' cannot be read: Empty CSV file"),
    ("header.csv", b"a,b\n", "--a (column 'a') is empty; give at least one row."),
    ("list.json", b"[1, 2]", "'list.json' cannot be read: entry 1 is not a JSON object"),
    (
        "table.xlsx",
        b"PK",
        (
            "'table.xlsx' has no suffix that fastboot reads; there are: .parquet, .pq, .arrow, "
            ".feather, .ipc, .csv, .tsv, .jsonl, .ndjson, .json (text also as .gz)."
        ),
    ),
    (
        "text.csv",
        b"a,b\nx,y\n",
        (
            "--a (column 'a') holds strings; a score must be a number. For labels, name the right "
            "ones with --gold COLUMN."
        ),
    ),
    (
        "nan.csv",
        b"a,b\n1,2\nnan,3\n",
        (
            "--a (column 'a') has 1 null (first at row 1); pass --nan-policy omit to drop those "
            "rows, or fill them."
        ),
    ),
    (
        "inf.csv",
        b"a,b\n1,2\n-inf,3\n",
        (
            "--a (column 'a') has 1 infinite value (first at row 1); replace or drop what is not "
            "finite."
        ),
    ),
]


@pytest.mark.parametrize("name,content,line", BAD_FILES, ids=[name for name, *_ in BAD_FILES])
def test_file__refused(
    run: Callable[..., Done],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes | None,
    line: str,
) -> None:
    """A file without an answer in it gives one line on stderr and exit code 2."""
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run("compare", name, "--a", "a", "--b", "b")

    assert done == Done(2, "", f"fastboot: {line}\n")


@pytest.mark.parametrize(
    "name,content",
    [
        ("empty.parquet", b""),
        ("corrupt.parquet", b"PAR1" + bytes(64) + b"PAR1"),
        ("text.parquet", b"a,b\n1,2\n"),
        ("text.arrow", b"a,b\n1,2\n"),
        ("binary.csv", bytes(range(256))),
        ("ragged.csv", b"a,b\n1\n2,3,4\n"),
        ("cut.jsonl", b'{"a": 1, "b": 2}\n{"a": 1,'),
        ("text.csv.gz", b"a,b\n1,2\n"),
    ],
)
def test_file__not_what_its_suffix_says(
    run: Callable[..., Done], tmp_path: Path, name: str, content: bytes
) -> None:
    """The reader's reason (pyarrow's own words) ends one printable line."""
    path = tmp_path / name
    path.write_bytes(content)
    done = run("compare", path, "--a", "a", "--b", "b")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"fastboot: '{path}' cannot be read: ")
    assert done.err.endswith("\n")
    assert done.err[:-1].isprintable()


def test_file__empty_folder(run: Callable[..., Done], tmp_path: Path) -> None:
    """A folder without files to read is refused, whatever its name."""
    path = tmp_path / "folder.parquet"
    path.mkdir()
    done = run("compare", path, "--a", "a", "--b", "b")

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(
        f"fastboot: '{path}': there is no file in this folder that fastboot reads: .parquet, "
    )


@pytest.mark.parametrize(
    "options,line",
    [
        (("--a", "c", "--b", "b"), f"--a: no column 'c' in data; {THERE_ARE}"),
        (
            ("--a", "x", "--b", "b"),
            (
                "--a (column 'x') holds strings; a score must be a number. For labels, name the "
                "right ones with --gold COLUMN."
            ),
        ),
        (
            ("--a", "x", "--b", "b", "--metric", "mean"),
            "--a (column 'x') holds strings; a score must be a number.",
        ),
        (
            ("--a", "a", "--b", "b", "--groups", "c"),
            f"--groups: no column 'c' in data; {THERE_ARE}",
        ),
        (
            ("--a", "a", "--b", "b", "--groups", "holes"),
            (
                "--groups (column 'holes') has 2 nulls (first at row 1); drop those rows or give "
                "them a group of their own."
            ),
        ),
        (
            ("--a", "a", "--b", "holes"),
            (
                "--b (column 'holes') has 2 nulls (first at row 1); pass --nan-policy omit to drop "
                "those rows, or fill them."
            ),
        ),
        (
            ("--a", "a", "--b", "huge"),
            (
                "--b (column 'huge') has 1 infinite value (first at row 2); replace or drop what "
                "is not finite."
            ),
        ),
        (
            ("--a", "a", "--b", "b", "--gold", "c"),
            f"--gold: no column 'c' in data; {THERE_ARE}",
        ),
        (
            ("--a", "a", "--b", "b", "--gold", ""),
            f"--gold: no column '' in data; {THERE_ARE}",
        ),
        (
            ("--a", "c", "--b", "b", "--gold", "a"),
            f"--a or --b: no column 'c' in data; {THERE_ARE}",
        ),
        (
            ("--a", "x", "--b", "y", "--gold", "gold", "--metric", "f1"),
            (
                "--positive is 1, which is in neither --gold nor --a or --b; the labels are "
                "'spam', 'ham'"
            ),
        ),
        (
            ("--a", "a", "--b", "b", "--resamples", "0"),
            "--resamples is 0; it must lie between 1 and 4,294,967,296",
        ),
        (
            ("--a", "a", "--b", "b", "--resamples", "-5"),
            "--resamples is -5; it must lie between 1 and 4,294,967,296",
        ),
        (
            ("--a", "a", "--b", "b", "--resamples", "1000000000000000"),
            "--resamples is 1,000,000,000,000,000; it must lie between 1 and 4,294,967,296",
        ),
        (
            ("--a", "a", "--b", "b", "--confidence-level", "95"),
            "--confidence-level is 95.0; it must lie between 0 and 1, such as 0.95",
        ),
        (
            ("--a", "a", "--b", "b", "--confidence-level", "nan"),
            "--confidence-level is nan; it must lie between 0 and 1, such as 0.95",
        ),
        (("--a", "a", "--b", "b", "--seed", "-1"), "--seed is -1; a seed must be 0 or more"),
        (
            ("--a", "a", "--b", "b", "--threads", "0"),
            "--threads is 0; it must lie between 1 and 1,024",
        ),
    ],
)
def test_data__refused(
    run: Callable[..., Done], table: Path, options: tuple[str, ...], line: str
) -> None:
    """What the library refuses is said in options, in one line."""
    done = run("compare", table, *options)

    assert done == Done(2, "", f"fastboot: {line}\n")


# ---------------------------------------------------------------------------- processes


def test_process__json_is_all_of_stdout() -> None:
    """Away from a terminal stdout holds the JSON and nothing else; no bar on stderr."""
    done = process("demo", "--json", "--resamples", 9)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["n_resamples"] == 9


def test_process__version() -> None:
    """The version of the package."""
    done = process("--version")

    assert (0, f"fastboot {fb.__version__}\n", "") == (done.returncode, done.stdout, done.stderr)


def test_process__help_without_arguments() -> None:
    """`fastboot` alone shows what there is."""
    done = process()

    assert (done.returncode, done.stderr) == (0, "")
    assert {"compare", "demo"} <= set(done.stdout.split())


def test_process__bad_data_has_no_traceback(tmp_path: Path) -> None:
    """One line and exit code 2, in a fresh process too."""
    done = process("compare", tmp_path / "none.csv", "--a", "a", "--b", "b")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"fastboot: '{tmp_path}/none.csv': there is no such file.\n"


@pytest.mark.parametrize("missing", ["rich", "typer"])
def test_process__extra_not_installed(missing: str) -> None:
    """Without the command line's packages: which extra to install."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from fastboot.__main__ import main\n"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "demo"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"fastboot: the command line needs {missing}, which is not installed; "
        "pip install 'fastboot-eval[cli]'\n"
    )


def test_process__ascii_output() -> None:
    """A terminal without Unicode gets a table of ASCII characters."""
    done = process("demo", "--resamples", 9, PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


UNREAD = {
    "demo": (("demo", "--resamples", 9), 141),
    "rank": (("rank", "TABLE", "--systems", "a,b", "--seed", 1, "--json"), 141),
    "compare": (("compare", "TABLE", "--a", "a", "--b", "b"), 141),
    "help": (("gate", "--help"), 141),
    "passed": (("--margin", 0.9), 0),
    "passed, JSON": (("--margin", 0.9, "--json"), 0),
    "failed": (("--margin", 0), 1),
    "failed, JSON": (("--margin", 0, "--json"), 1),
}


@pytest.mark.parametrize("case", UNREAD)
def test_process__closed_pipe(case: str, table: Path) -> None:
    """`fastboot ... | true` ends quietly; with the code of a gate if it is one, else 141.

    1 would say that a candidate is worse.
    """
    words, code = UNREAD[case]
    if words[0] == "--margin":
        words = ("gate", "TABLE", "--candidate", "a", "--baseline", "b", "--seed", 1, *words)
    own = [str(table if word == "TABLE" else word) for word in words]
    with subprocess.Popen(
        [sys.executable, "-m", "fastboot", *own],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        errors = command.stderr.read()

    assert (command.returncode, errors) == (code, "")


def test_process__closed_stderr() -> None:
    """Nobody reads what is wrong: the code is that of bad usage all the same."""
    with subprocess.Popen(
        [sys.executable, "-m", "fastboot", "gate"], stderr=subprocess.PIPE
    ) as command:
        assert command.stderr is not None
        command.stderr.close()

    assert command.returncode == 2


class Terminal:
    """A terminal whose screen is read all the time, so that nobody waits to write to it."""

    def __init__(self) -> None:
        self._ours, self.theirs = pty.openpty()
        self._screen = b""
        self._reader = threading.Thread(target=self._read)

    def start(self) -> None:
        """Leave the other end to a process that has it by now."""
        os.close(self.theirs)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # Linux ends a terminal that nobody holds with EIO
            while part := os.read(self._ours, 4_096):
                self._screen += part
        os.close(self._ours)

    def wait_for(self, text: bytes, seconds: float) -> bool:
        """Whether `text` appears in time."""
        end = time.monotonic() + seconds
        while text not in self._screen and time.monotonic() < end:
            time.sleep(0.01)
        return text in self._screen

    def text(self) -> bytes:
        """All that was shown, once nobody writes any more."""
        self._reader.join()
        return self._screen


@pytest.fixture
def long_job(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Terminal]]:
    """A comparison that runs for minutes, with a terminal as stderr."""
    path = tmp_path / "long.parquet"
    scores = [(i * 7_919 % 10_007) / 10_007 for i in range(100_000)]  # 10,007 distinct: no collapse
    pq.write_table(pa.table({"a": scores, "b": scores[::-1]}), path)
    terminal = Terminal()
    words = ("compare", str(path), "--a", "a", "--b", "b", "--resamples", "10000000")
    with subprocess.Popen(
        [sys.executable, "-m", "fastboot", *words], stdout=subprocess.PIPE, stderr=terminal.theirs
    ) as command:
        terminal.start()
        yield command, terminal
        command.kill()


def test_terminal__progress_and_interrupt(
    long_job: tuple[subprocess.Popen[bytes], Terminal],
) -> None:
    """A bar on the terminal; Ctrl-C ends it with exit code 130, nothing on stdout, no traceback."""
    command, terminal = long_job
    assert terminal.wait_for(b"resampling", SECONDS_TO_START)
    assert terminal.wait_for(b"%", SECONDS_TO_START)
    sent = time.monotonic()
    command.send_signal(signal.SIGINT)
    out, _ = command.communicate()
    seconds = time.monotonic() - sent

    assert command.returncode == 130
    assert out == b""
    assert b"Traceback" not in terminal.text()
    assert seconds < SECONDS_TO_STOP
