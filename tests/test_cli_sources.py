"""The command line: several files as one table, `--where`, `--checkpoint`, and the bar's bytes."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq
import pytest
from test_cli import Done

import fastboot as fb
from fastboot import cli
from fastboot.cli import terminal
from fastboot.cli.comparison import Comparison
from fastboot.cli.items import Items
from fastboot.progress import tell_read

N_ROWS = 90
PAIR = ("--a", "good", "--b", "poor")
MEANS = ("--a", "x", "--b", "y", "--resamples", 99, "--seed", 3, "--json")
THERE_ARE = "there are: gold, good, poor, x, y, split, fold, user."
HOW = (
    "write a column, one of = != < <= > >= in, and a value, such as 'split = test', 'score >= 0.5' "
    "or 'language in de,fr'."
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run a command in this process, on an output 100 columns wide."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Done:
        code = cli.run([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Labels, answers, scores, and columns to choose rows by."""
    rows = range(N_ROWS)
    return pa.table(
        {
            "gold": ["spam" if i % 3 else "ham" for i in rows],
            "good": ["spam" if i % 3 and i % 7 else "ham" for i in rows],
            "poor": ["spam" if i % 2 else "ham" for i in rows],
            "x": [float(i * 37 % 89) for i in rows],
            "y": [float(i * 53 % 83) for i in rows],
            "split": ["test" if i % 4 else "dev" for i in rows],
            "fold": [i % 5 for i in rows],
            "user": [i // 3 for i in rows],
        }
    )


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows in three files."""
    folder = tmp_path_factory.mktemp("folder") / "runs"
    folder.mkdir()
    for number, start in enumerate((0, 20, 70), start=1):
        part = table.slice(start, (20, 50, 20)[number - 1])
        pq.write_table(part, folder / f"part{number}.parquet")
    return folder


def answer(done: Done) -> dict[str, Any]:
    """The JSON answer without what differs from run to run."""
    found: dict[str, Any] = json.loads(done.out)
    for own in (found, found.get("result"), found.get("bootstrap")):
        for name in ("elapsed", "design", "signature"):
            if own is not None:
                own.pop(name, None)
    return found


# ---------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "command",
    [
        ("compare", *PAIR, "--gold", "gold", "--metric", "f1", "--positive", "spam"),
        ("compare", "--a", "x", "--b", "y", "--test", "randomization"),
        ("rank", "--systems", "good,poor", "--gold", "gold"),
        ("gate", "--candidate", "good", "--baseline", "poor", "--gold", "gold", "--margin", 0.1),
        ("ttest", "--a", "x", "--b", "y", "--groups", "user"),
    ],
    ids=lambda command: command[0],
)
def test_files__are_one_table(
    run: Callable[..., Done], table: pa.Table, folder: Path, tmp_path: Path,
    command: tuple[object, ...],
) -> None:  # fmt: skip
    """A folder, a pattern and a list of files answer as one file; so do the rows of `--where`."""
    name, *options = command
    pq.write_table(table, tmp_path / "whole.parquet")
    test = table.filter(pc.equal(table["split"], "test"))
    pq.write_table(test, tmp_path / "test.parquet")
    files = sorted(folder.iterdir())
    many = [(folder,), (folder / "part*.parquet",), files]

    for where, one in ((), "whole.parquet"), (("--where", "split=test"), "test.parquet"):
        shared = (*options, "--resamples", 99, "--seed", 1, "--json")
        expected = run(name, tmp_path / one, *shared)
        assert (expected.code, expected.err) == (0, "")
        for named in many:
            found = run(name, *named, *where, *shared)
            assert (found.code, found.err) == (0, "")
            assert answer(found) == answer(expected)


def test_files__refused(run: Callable[..., Done], folder: Path, tmp_path: Path) -> None:
    """One line that names the file, the folder or the pattern."""
    part = folder / "part1.parquet"
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    (tmp_path / "other.parquet").write_bytes(b"no Parquet")

    assert run("compare", part, part, *PAIR).err == (
        f"fastboot: data names the file '{part}' twice; its rows would count twice.\n"
    )
    assert run("compare", folder / "*.csv", *PAIR).err.startswith(
        f"fastboot: '{folder}/*.csv': no file matches that fastboot reads: "
    )
    assert run("compare", part, tmp_path / "none.parquet", *PAIR).err == (
        f"fastboot: '{tmp_path}/none.parquet': there is no such file.\n"
    )
    assert run("compare", part, tmp_path / "other.csv", *PAIR).err.startswith(
        f"fastboot: data means files of two formats, '{part}' and '{tmp_path}/other.csv'"
    )
    broken = run("rank", part, tmp_path / "other.parquet", "--systems", "x,y")
    assert broken.code == 2
    assert broken.err.startswith(f"fastboot: '{tmp_path}/other.parquet' cannot be read: ")


# ---------------------------------------------------------------------------- --where


@pytest.mark.parametrize(
    "conditions,where",
    [
        (["split=test"], [("split", "==", "test")]),
        (["split == test"], [("split", "==", "test")]),
        (["split != dev", "fold>=2"], [("split", "!=", "dev"), ("fold", ">=", 2)]),
        (["x < 40.5"], [("x", "<", 40.5)]),
        (["fold in 1, 3"], [("fold", "in", [1, 3])]),
        (["fold not in 1,3"], [("fold", "not in", [1, 3])]),
    ],
)
def test_where__is_the_library(
    run: Callable[..., Done], folder: Path, conditions: list[str], where: list[Any]
) -> None:
    """Conditions are the tuples of the library, and all must hold."""
    options = [word for one in conditions for word in ("--where", one)]
    expected = fb.paired_bootstrap(
        "x", "y", data=folder, where=where, n_resamples=99, rng=3
    ).to_json()
    found = run("compare", folder, *MEANS, *options)

    assert answer(Done(0, expected, "")) == answer(found)
    assert 0 < json.loads(found.out)["n_rows"] < N_ROWS


ODD = pa.table(
    {
        "text": ["3", "a, b", ""],
        "number": [3, 4, 5],
        "share": [0.5, 1.0, 3.0],
        "money": [Decimal("0.50"), Decimal("1.00"), Decimal("3.00")],
        "right": [True, False, True],
        "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 1, 3)],
        "time": pa.array(["2024-01-01T05:00", "2024-01-02", "2024-01-03"]).cast(pa.timestamp("us")),
        "nothing": pa.nulls(3),
        "a<b": [1, 2, 3],
        "not in use": [1, 2, 3],
        "score": [1.0, 2.0, 3.0],
        "large": pa.array([2**64 - 1, 2**63, 5], pa.uint64()),
        "narrow": pa.array([0.1, 0.2, 0.3], pa.float32()),
        "said": ["it's", "'3'", '"'],
    }
)


@pytest.mark.parametrize(
    "condition,kept",
    [
        ("text=3", [0]),
        ('text in "a, b", 3', [0, 1]),
        ("text=", [2]),
        ("text != 3", [1, 2]),
        ("number=3", [0]),
        ("number<3.5", [0]),
        ("number=1e300", []),
        ("number<100000000000000000000", [0, 1, 2]),
        ("share in .5,1", [0, 1]),
        ("money>=1", [1, 2]),
        ("right=true", [0, 2]),
        ("right != TRUE", [1]),
        ("day > 2024-01-01", [1, 2]),
        ("time<=2024-01-01T05:00", [0]),
        ("nothing=3", []),
        ("a<b=2", [1]),
        ("a<b <= 2", [0, 1]),
        ("not in use > 1", [1, 2]),
        ("not in use in 1,3", [0, 2]),
        ("right=1", [0, 2]),
        ("right in 0", [1]),
        ("large=18446744073709551615", [0]),
        ("large>=9223372036854775808", [0, 1]),
        ("narrow=0.1", [0]),
        ("narrow<=0.2", [0, 1]),
        ("text='3'", [0]),
        ('text="a, b"', [1]),
        ("text = ''", [2]),
        ("text in '3', \"a, b\"", [0, 1]),
        ("text in 3,", [0, 2]),
        ("number='3'", [0]),
        ("said=it's", [0]),
        ("said='it''s'", [0]),
        ("said in 'it''s', '", [0]),
        ("said=\"'3'\"", [1]),
        ('said="', [2]),
        ('said=""""', [2]),
    ],
)
def test_where__reads_values_as_the_column(condition: str, kept: list[int], tmp_path: Path) -> None:
    """Text, numbers, truth and dates; operators in names."""
    pq.write_table(ODD, tmp_path / "odd.parquet")
    items = Items([tmp_path / "odd.parquet"], [condition])

    if not kept:
        with pytest.raises(ValueError, match=r"^`where` keeps no row of `data`"):
            fb.bootstrap("score", data=items.data, where=items.where, n_resamples=9)
    else:
        found = fb.bootstrap("score", data=items.data, where=items.where, n_resamples=9)
        assert found.n_rows == len(kept)
        assert found.estimate == sum(i + 1 for i in kept) / len(kept)


@pytest.mark.parametrize("condition", ["number=null", "number != NaT", "right in true,none"])
def test_where__missing_values_cannot_be_named(condition: str, tmp_path: Path) -> None:
    """It says how Python asks for them."""
    pq.write_table(ODD, tmp_path / "odd.parquet")
    column = condition.split("=", maxsplit=1)[0].split(" ", maxsplit=1)[0].split("!", maxsplit=1)[0]
    message = (
        f" Rows without a value cannot be named here; in Python they are [({column!r}, 'in', [None]"
        f")], and the others [({column!r}, 'not in', [None])]."
    )
    with pytest.raises(TypeError, match=re.escape(message)) as caught:
        Items([tmp_path / "odd.parquet"], [condition]).where  # noqa: B018 - a property that refuses
    assert "kernel" not in str(caught.value)


def test_messages__names_of_columns_stay(run: Callable[..., Done], tmp_path: Path) -> None:
    """They may look like arguments of the library."""
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs" / "x.parquet"
    names = ["x", "y", "e=q", "seed=1", "rng=2"]
    pq.write_table(pa.table({name: [1.0, 2.0] for name in names}), path)
    command = ("compare", path, "--a", "x", "--b", "y", "--resamples", 9)
    assert run(*command, "--where", "nope=1").err == (
        "fastboot: --where: no column 'nope' in data; there are: x, y, e=q, seed=1, rng=2.\n"
    )
    assert "'rng=2' of type double" in run(*command, "--where", "rng=2=u").err
    assert "column 'rng=2'" in run(*command, "--groups", "rng=3").err or (
        "'rng=3'" in run(*command, "--groups", "rng=3").err
    )
    keyed = tmp_path / "runs" / "split=test"
    keyed.mkdir()
    path.rename(keyed / "x.parquet")
    line = run("compare", keyed, "--a", "x", "--b", "y", "--where", "split=test").err
    assert "such as 'split=test': give pyarrow.dataset.dataset(" in line
    assert "partitioning='hive'" in line


def test_paths__empty(run: Callable[..., Done], folder: Path) -> None:
    """As "$UNSET" in a script is; it is not the working directory."""
    assert run("compare", "", *PAIR).err == (
        "fastboot: Invalid value for 'FILE': the path is empty; write . for the working "
        "directory.\n"
    )
    done = run("compare", folder, "--a", "x", "--b", "y", "--seed", 1, "--checkpoint", "")
    assert done.code == 2
    assert "--checkpoint" in done.err
    assert done.err.endswith("the path is empty; write . for the working directory.\n")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_where__text_files(
    run: Callable[..., Done], table: pa.Table, tmp_path: Path, suffix: str
) -> None:
    """The first file may be empty: the next one tells what columns hold."""
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    pc_csv.write_csv(table, tmp_path / "1.csv")
    (tmp_path / "1.jsonl").write_text(lines)
    (tmp_path / f"0.{suffix}").write_text("")
    files = tmp_path / f"*.{suffix}"
    found = run("compare", files, *MEANS, "--where", "fold=1", "--where", "split=test")

    kept = [row for row in table.to_pylist() if row["fold"] == 1 and row["split"] == "test"]
    assert json.loads(found.out)["n_rows"] == len(kept)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_where__first_file_has_no_values(suffix: str, tmp_path: Path) -> None:
    """The next one tells whether 5 is a number."""
    for number, (k, x) in enumerate([(None, 1.0), (None, 2.0), (4, 3.0), (6, 4.0)]):
        path = tmp_path / f"{number}.{suffix}"
        if suffix == "parquet":
            pq.write_table(pa.table({"k": [k], "x": [x]}), path)
        elif suffix == "csv":
            path.write_text(f"k,x\n{'' if k is None else k},{x}\n")
        else:
            path.write_text(json.dumps({"k": k, "x": x}) + "\n")
    items = Items([tmp_path], ["k<5"])
    assert items.where == [("k", "<", 5)]
    assert fb.bootstrap("x", data=items.data, where=items.where, n_resamples=9).estimate == 3
    assert Items([tmp_path / f"0.{suffix}"], ["k<5"]).where == [("k", "<", "5")]


@pytest.mark.parametrize(
    "condition,line",
    [
        ("test", f"--where 'test' is no condition; {HOW}"),
        ("=test", f"--where '=test' is no condition; {HOW}"),
        ("spilt=test", f"--where: no column 'spilt' in data; {THERE_ARE.replace('gold, ', '')}"),
        (
            "fold=three",
            (
                "--where cannot be applied: 'three' is no number. It looks at 'fold' of type "
                "int64; compare each column with a value of its own type."
            ),
        ),
        ("split=tset", "--where keeps no row of FILE; give a filter that some rows pass."),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--a", "x", "--b", "y"),
        ("compare", *PAIR, "--gold", "gold", "--metric", "f1", "--positive", "spam"),
        ("rank", "--systems", "x,y"),
        ("gate", "--candidate", "x", "--baseline", "y", "--margin", 1),
        ("ttest", "--a", "x", "--b", "y"),
        ("ttest", "--a", "x", "--b", "y", "--resamples", 0),
    ],
    ids=lambda command: " ".join(map(str, command[:1] + command[-1:])),
)
def test_where__refused(
    run: Callable[..., Done], folder: Path, command: tuple[object, ...], condition: str, line: str
) -> None:
    """In options, in one line, by every command."""
    name, *options = command
    done = run(name, folder, *options, "--where", condition)

    if "no column" in line:
        assert done.err.startswith("fastboot: --where: no column 'spilt' in data; there are: split")
        assert done == Done(2, "", done.err)
    else:
        assert done == Done(2, "", f"fastboot: {line}\n")


# ---------------------------------------------------------------------------- --checkpoint


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_checkpoint__resumes(
    run: Callable[..., Done], folder: Path, tmp_path: Path, test: str
) -> None:
    """The same command takes what is kept, and a longer one adds to it; as without."""
    kept = tmp_path / "kept"
    words = ("compare", folder, "--a", "x", "--b", "y", "--test", test, "--seed", 5, "--json")
    checkpoint = ("--checkpoint", kept)

    plain = run(*words, "--resamples", 99)
    assert answer(run(*words, *checkpoint, "--resamples", 99)) == answer(plain)
    files = {file: file.stat().st_mtime_ns for file in kept.iterdir()}
    assert answer(run(*words, *checkpoint, "--resamples", 99)) == answer(plain)
    assert {file: file.stat().st_mtime_ns for file in kept.iterdir()} == files
    longer = run(*words, *checkpoint, "--resamples", 150)
    assert answer(longer) == answer(run(*words, "--resamples", 150))
    assert len(list(kept.iterdir())) > len(files)


def test_checkpoint__gate(run: Callable[..., Done], folder: Path, tmp_path: Path) -> None:
    """Gates keep theirs."""
    words = ("gate", folder, "--candidate", "x", "--baseline", "y", "--margin", 5, "--json")
    found = run(*words, "--resamples", 99, "--seed", 5, "--checkpoint", tmp_path / "kept")

    assert answer(found) == answer(run(*words, "--resamples", 99, "--seed", 5))
    assert list((tmp_path / "kept").iterdir())


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_checkpoint__rank(
    test: str, run: Callable[..., Done], folder: Path, tmp_path: Path
) -> None:
    """Rankings keep theirs, of the bootstrap and of the test."""
    words = ("rank", folder, "--systems", "x,y", "--test", test, "--seed", 5, "--json")
    kept = tmp_path / "kept"
    run(*words, "--resamples", 70, "--checkpoint", kept)
    n_files = len(list(kept.rglob("*.*")))
    longer = run(*words, "--resamples", 99, "--checkpoint", kept)

    assert answer(longer) == answer(run(*words, "--resamples", 99))
    assert len(list(kept.rglob("*.*"))) > n_files > 0
    unseeded = run("rank", folder, "--systems", "x,y", "--checkpoint", kept)
    assert unseeded.code == 2
    assert unseeded.err.startswith("fastboot: --checkpoint needs --seed N: ")


def test_checkpoint__refused(run: Callable[..., Done], folder: Path, tmp_path: Path) -> None:
    """Without a seed nothing could be resumed; other resamples are not mixed in."""
    words = ("compare", folder, "--a", "x", "--b", "y", "--resamples", 99)
    kept = tmp_path / "kept"
    unseeded = run(*words, "--checkpoint", kept)
    run(*words, "--seed", 1, "--checkpoint", kept)
    other = run(*words, "--seed", 2, "--checkpoint", kept)

    assert unseeded == Done(
        2,
        "",
        (
            "fastboot: --checkpoint needs --seed N: without one every run draws resamples of its "
            "own.\n"
        ),
    )
    assert other == Done(
        2,
        "",
        f"fastboot: --checkpoint '{kept}' belongs to another run: seed is 1 there and 2 here. Give "
        "another directory, or delete this one\n",
    )


# ---------------------------------------------------------------------------- what is shown


class Screen:
    """A terminal as stderr."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        """It is one."""
        return True

    def write(self, text: str) -> int:
        """Show."""
        self.text += text
        return len(text)

    def flush(self) -> None:
        """All is shown already."""


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Screen]:
    """Put a terminal in place of stderr; within the test, for pytest has its own before."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")

    def screen() -> Screen:
        monkeypatch.setattr("sys.stderr", terminal := Screen())
        return terminal

    return screen


def test_bar__shows_bytes_read(screen: Callable[[], Screen]) -> None:
    """Where it is told of them, as the library's own bar."""
    shown = screen()
    with terminal.working() as progress:
        assert progress is not None
        tell_read(progress, 3_140_000_000)
        progress(500, 1_000)
        progress(1_000, 1_000)

    assert re.search(r"resampling .*100%.* 3\.1 GB read", shown.text)


def test_bar__without_bytes(screen: Callable[[], Screen]) -> None:
    """Nothing is said of data in memory."""
    shown = screen()
    with terminal.working() as progress:
        assert progress is not None
        progress(1_000, 1_000)

    assert "100%" in shown.text
    assert "read" not in shown.text


def test_bar__files_of_several_blocks(tmp_path: Path, screen: Callable[[], Screen]) -> None:
    """The library tells it."""
    shown = screen()
    n_rows = 70_000
    values = [i * 7_919 % 69_997 / 69_997 for i in range(n_rows)]
    path = tmp_path / "many.parquet"
    pq.write_table(pa.table({"x": values, "y": values[::-1]}), path, row_group_size=20_000)
    cli.run(["compare", str(path), "--a", "x", "--b", "y", "--resamples", "20", "--json"])

    assert re.search(r"\d+(\.\d)? [kM]B read", shown.text)


def test_notes__speak_of_files(run: Callable[..., Done], tmp_path: Path) -> None:
    """What the library says of `data` and `where` is said of FILE and --where."""
    path = tmp_path / "many.parquet"
    pq.write_table(pa.table({"x": [0, 1] * 35_000, "y": [1, 1] * 35_000}), path)
    done = run("compare", path, "--a", "x", "--b", "y", "--resamples", 20, "--where", "x in 0,1")

    assert "note: FILE was read " in " ".join(done.out.split())


def test_demo__command_names_conditions() -> None:
    """A command that can be pasted, with what chooses rows."""
    comparison = Comparison(
        Items([Path("a.parquet"), Path("b c.parquet")], ["split = test"]), "x", "y", seed=1
    )

    assert comparison.command() == (
        "fastboot compare a.parquet 'b c.parquet' --where 'split = test' --a x --b y --seed 1"
    )
