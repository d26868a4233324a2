"""The bar: what is done, how fast, how long still, and what was read; on one line."""

from __future__ import annotations

import io

import pytest

from fastboot import progress
from fastboot.progress import Bar, tell_read


class Clock:
    """A clock that stands still until it is set."""

    now = 1_000.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the bars."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setenv("COLUMNS", "120")
    return clock


def last(stream: io.StringIO) -> str:
    """What stands on the line now."""
    return stream.getvalue().rpartition("\r")[2]


def test_bar__rate_time_and_bytes(clock: Clock) -> None:
    """Each part is there as soon as it is known."""
    stream = io.StringIO()
    bar = Bar(stream)

    bar(0, 1_000)
    assert f"[{'.' * 40}] starting" == last(stream)
    clock.now += 13.29
    bar.read(1_200_000_000)
    bar(412, 1_000)
    done, left = "#" * 16, "." * 24
    assert f"[{done}{left}] 412/1,000 resamples, 31/s, 19 s left, 1.2 GB read" == last(stream)
    clock.now += 20
    bar(1_000, 1_000)
    assert f"[{'#' * 40}] 1,000/1,000 resamples, 30/s, 0 s left, 1.2 GB read\n" == (
        last(stream).replace("  ", "")
    )


def test_bar__line_is_overwritten(clock: Clock) -> None:
    """A shorter line leaves nothing of the longer one before it."""
    stream = io.StringIO()
    bar = Bar(stream)
    bar(0, 100_000)
    for seconds, done in ((100, 1_000), (10, 90_000)):
        clock.now += seconds
        bar(done, 100_000)
    longer, shorter = stream.getvalue().split("\r")[-2:]

    assert "10/s, 2 h 45 min left" in longer
    assert len(longer) == len(shorter)
    assert shorter.endswith(f" {818}/s, 12 s left".ljust(len(" 10/s, 2 h 45 min left") - 1))


@pytest.mark.parametrize("columns,width", [(120, 40), (80, 34), (40, 0)])
def test_bar__stays_on_one_line(
    columns: int, width: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar gives way to the words where the terminal is narrow."""
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    bar = Bar(stream)
    bar.read(1_200_000_000)
    bar(0, 10)
    clock.now += 5
    bar(5, 10)
    drawn, _, words = last(stream).partition(" ")

    assert "5/10 resamples, 1/s, 5 s left, 1.2 GB read" == words
    assert f"[{'#' * (width // 2)}{'.' * (width - width // 2)}]" == drawn
    assert (width == 0) == (len(words) > columns)
    assert width == 0 or len(last(stream)) < columns


def test_bar__redraws_now_and_then(clock: Clock) -> None:
    """Ten times a second, and at the end: here in one call of seven, and in the last."""
    stream = io.StringIO()
    bar = Bar(stream)
    for done in range(101):
        bar(done, 100)
        clock.now += 1 / 64

    assert 15 + 1 == stream.getvalue().count("\r")
    assert "100/100 resamples" in last(stream)


def test_bar__counts_from_what_was_done_before(clock: Clock) -> None:
    """Neither earlier work, nor a wait for the first result, goes into the rate."""
    for before in (0, 500):
        stream = io.StringIO()
        bar = Bar(stream, "rows")
        bar(before, 1_000)
        clock.now += 60
        bar(before, 1_000)
        clock.now += 10
        bar(before + 100, 1_000)
        assert f"{before + 100}/1,000 rows, 10/s" in last(stream)


def test_bar__several_runs(clock: Clock) -> None:
    """A bar that has ended begins again, on a line of its own."""
    stream = io.StringIO()
    bar = Bar(stream)
    for _ in range(2):
        bar.read(10)
        bar(0, 10)
        clock.now += 2
        bar(10, 10)
        clock.now += 60
    bar(1, 10)

    assert 2 == stream.getvalue().count("10/10 resamples, 5/s, 0 s left, 10 B read\n")
    assert last(stream).endswith("] 1/10 resamples")


@pytest.mark.parametrize(
    "seconds,expected",
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3_599.6, "1 h 0 min"),
        (12_000, "3 h 20 min"),
        (4e6, "1,111 h 6 min"),
    ],
)
def test_duration(seconds: float, expected: str) -> None:
    """Two units at most."""
    assert expected == progress._duration(seconds)


@pytest.mark.parametrize(
    "n_bytes,expected",
    [
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (1_240_000_000, "1.2 GB"),
        (3.25e15, "3,250.0 TB"),
    ],
)
def test_size(n_bytes: float, expected: str) -> None:
    """Units of a thousand, as disks have."""
    assert expected == progress._size(n_bytes)


@pytest.mark.parametrize(
    "rate,expected",
    [(1_234.4, "1,234"), (10.4, "10"), (9.96, "10"), (3.14, "3.1"), (0.031, "0.031")],
)
def test_rate(rate: float, expected: str) -> None:
    """Two digits where whole numbers say too little."""
    assert expected == progress._short(rate)


def test_tell_read__who_listens() -> None:
    """A progress with a `read` is told; a plain function need not have one."""

    class Listener:
        n_bytes = 0

        def __call__(self, done: int, total: int) -> None:
            """Take no note."""

        def read(self, n_bytes: int) -> None:
            """Take note."""
            self.n_bytes = n_bytes

    listener = Listener()
    tell_read(listener, 17)
    tell_read(print, 17)
    tell_read(None, 17)

    assert 17 == listener.n_bytes


def test_bar__standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """It goes to standard error, and only when called."""
    bar = Bar()
    bar.read(5)
    assert ("", "") == capsys.readouterr()
    bar(2, 2)
    assert capsys.readouterr().err.endswith("] 2/2 resamples, 5 B read\n")
