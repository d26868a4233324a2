"""What a person is shown of many systems: a table of systems, a table of pairs."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

import fastboot as fb
from fastboot.cli.leaderboard import Leaderboard
from fastboot.cli.report import digits_of, joint_of, named, shown
from fastboot.leaderboards.boards import Board
from fastboot.rendering import count, label
from fastboot.tabular import SHOWN, Tabular

__all__ = ["boards"]


_ALWAYS = 9  # the weight of columns that no table is without


class _Field(NamedTuple):
    """A column of a table.

    heading : its name
    cell : what it shows of a row
    weight : the smallest leave first where a terminal is narrow
    words : whether it holds words, which stand to the left
    style : of its cells
    """

    heading: str
    cell: Callable[[dict[str, Any]], str]
    weight: int
    words: bool = False
    style: str = ""


def boards(leaderboard: Leaderboard, comparison: fb.Comparison, console: Console) -> Group:
    """Two tables for each metric and slice, with how they were found below."""
    systems, pairs = _rows(comparison.systems), _rows(comparison.pairs)
    parts: list[RenderableType] = []
    for board in comparison.boards:
        first = list(islice(systems, len(board.names)))
        second = _better_first(comparison, board, islice(pairs, len(board.pairs.places)))
        parts += [
            Text(_title(leaderboard, comparison, board), "bold"),
            _table(_of_systems(comparison, first), first, "system", console),
            Text(),
            _table(_of_pairs(comparison, second), second, "pair", console),
            Text(),
        ]
    return Group(*parts, _run(leaderboard, comparison))


def _rows(table: Tabular) -> Iterator[dict[str, Any]]:
    columns = table.to_columns()
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _title(leaderboard: Leaderboard, comparison: fb.Comparison, board: Board) -> str:
    metric: Any = board.metric
    second = leaderboard.measures.second_column(metric)
    joined = "" if second is None else f" {joint_of(metric)} {second}"
    values = board.slice or ()
    within = [f"{axis} = {value}" for axis, value in zip(comparison.axes, values, strict=False)]
    return (
        f"{', '.join([f'{metric}{joined}', *within])}: {count(len(board.names), 'system')}, "
        f"{count(board.n_rows, 'row')}, {'higher' if board.higher_is_better else 'lower'} is better"
    )


def _better_first(
    comparison: fb.Comparison, board: Board, rows: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The pairs of the best systems first and, where sides are alike, the better of each first."""
    place = {board.names[number]: rank for rank, number in enumerate(board.order)}

    def turned(row: dict[str, Any]) -> dict[str, Any]:
        if comparison.alternative != "two-sided" or place[row["a"]] <= place[row["b"]]:
            return row
        return row | {
            "a": row["b"],
            "b": row["a"],
            "difference": -row["difference"],
            "low": -row["high"],
            "high": -row["low"],
        }

    def places(row: dict[str, Any]) -> list[int]:
        return sorted((place[row["a"]], place[row["b"]]))

    return sorted(map(turned, rows), key=places)


def _of_systems(comparison: fb.Comparison, rows: Sequence[dict[str, Any]]) -> list[_Field]:
    digits = _digits(rows)
    fields = [
        _Field("rank", lambda row: _number(row["rank"]), _ALWAYS),
        _Field("system", lambda row: label(row["system"]), _ALWAYS, words=True, style="cyan"),
        _Field("value", lambda row: shown(row["value"], digits), _ALWAYS, style="bold"),
        _Field(_level(comparison), _interval(digits), 7, words=True),
        _Field("ranks", _ranks, 6, words=True),
        _Field("best in", lambda row: _share(row["probability_best"]), 4),
        _Field("MCS p", lambda row: _pvalue(row["mcs_pvalue"]), 3),
    ]
    if "letters" in rows[0]:
        fields.append(_Field("alike", lambda row: row["letters"], 5, words=True))
    return fields


def _of_pairs(comparison: fb.Comparison, rows: Sequence[dict[str, Any]]) -> list[_Field]:
    digits = f"+{_digits(rows)}"
    fields = [
        _Field("a", lambda row: label(row["a"]), _ALWAYS, words=True, style="cyan"),
        _Field("b", lambda row: label(row["b"]), _ALWAYS, words=True, style="cyan"),
        _Field("a - b", lambda row: shown(row["difference"], digits), _ALWAYS, style="bold"),
        _Field(_level(comparison), _interval(digits), 6, words=True),
        _Field("p", lambda row: _pvalue(row["pvalue"]), 5),
    ]
    if comparison.correction != "none":
        name = f"{comparison.correction.replace('_', '-')} p"
        fields.append(
            _Field(name, lambda row: _pvalue(row["adjusted_pvalue"]), _ALWAYS, style="bold")
        )
    return fields


def _digits(rows: Sequence[dict[str, Any]]) -> str:
    errors = [row["standard_error"] for row in rows if row["standard_error"] > 0.0]
    return digits_of(min(errors, default=math.nan))


def _table(
    fields: Sequence[_Field], rows: Sequence[dict[str, Any]], noun: str, console: Console
) -> RenderableType:
    """The first rows, and those columns that the terminal has room for."""
    kept = list(fields)
    table = _drawn(kept, rows[:SHOWN])
    endless = console.options.update(max_width=sys.maxsize)
    while console.measure(table, options=endless).maximum > console.width:
        if all(field.weight == _ALWAYS for field in kept):
            break
        kept.remove(min(kept, key=_weight))
        table = _drawn(kept, rows[:SHOWN])
    said = []
    if len(rows) > SHOWN:
        left = len(rows) - SHOWN
        said.append(f"... {left:,} more {noun}{'' if left == 1 else 's'}")
    left_out = [field.heading for field in fields if field not in kept]
    if left_out:
        said.append(f"no room for: {', '.join(left_out)}")
    more = Text(f"{'; '.join(said)} (--json has all)", "dim")
    return Group(table, more) if said else table


def _weight(field: _Field) -> int:
    return field.weight


def _drawn(fields: Iterable[_Field], rows: Iterable[dict[str, Any]]) -> Table:
    fields = list(fields)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for field in fields:
        table.add_column(
            Text(field.heading),
            justify="left" if field.words else "right",
            style=field.style,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(field.cell(row)) for field in fields))
    return table


def _level(comparison: fb.Comparison) -> str:
    return f"{100 * comparison.confidence_level:g} % interval"


def _interval(digits: str) -> Callable[[dict[str, Any]], str]:
    def cell(row: dict[str, Any]) -> str:
        low, high = shown(row["low"], digits), shown(row["high"], digits)
        return low if low == high else f"{low} to {high}"

    return cell


def _number(rank: int | None) -> str:
    return "" if rank is None else str(rank)


def _ranks(row: dict[str, Any]) -> str:
    low, high = _number(row["rank_low"]), _number(row["rank_high"])
    return low if low == high else f"{low} to {high}"


def _share(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.1f} %"


def _pvalue(pvalue: float) -> str:
    return "undefined" if math.isnan(pvalue) else f"{pvalue:.3g}"


def _run(leaderboard: Leaderboard, comparison: fb.Comparison) -> Table:
    """What was resampled, how, and what repeats it."""
    board = comparison.boards[0]
    groups = f" groups by {leaderboard.groups}" if leaderboard.groups else ""
    corrected = ""
    if comparison.correction != "none":
        corrected = f", {comparison.correction.replace('_', '-')} over the pairs of a table"
    jointly = "ranks" if comparison.correction != "max_t" else "ranks and of pairs"
    rows = {
        "rows": f"{board.n_rows:,}",
        "units": f"{board.n_units:,}{groups}",
        "resamples": f"{comparison.n_resamples:,}",
        "test": f"{comparison.alternative} {comparison.test}{corrected}",
        "intervals": f"{comparison.method}; those of {jointly} hold together",
        "alike": "systems that share a letter were not found to differ",
        "MCS p": "p-value in the model confidence set",
        "seed": str(comparison.seed),
        "time": f"{comparison.elapsed:.2f} s",
    }
    if "letters" not in comparison.systems.to_columns():
        del rows["alike"]
    return named(rows)
