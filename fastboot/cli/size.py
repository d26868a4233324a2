"""``fastboot size``: how many items an evaluation needs."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

import fastboot as fb
from fastboot.cli import options

__all__ = ["size"]


def size(
    *,
    half_width: options.HalfWidth = None,
    proportion: options.Proportion = None,
    std: options.Std = None,
    confidence_level: options.Level = None,
    effect: options.Effect = None,
    discordance: options.Discordance = None,
    std_of_difference: options.StdOfDifference = None,
    power: options.Power = None,
    alpha: options.TestAlpha = None,
    alternative: options.Alternative = None,
    cluster_size: options.ClusterSize = None,
    icc: options.Icc = None,
    method: options.Formula = None,
    json: options.Json = False,
) -> None:
    """Say how many items an interval of some width, or a test of some power, needs."""
    with options.in_words():
        answer = fb.sample_size(
            half_width=half_width,
            proportion=proportion,
            std=std,
            confidence_level=confidence_level,
            effect=effect,
            discordance=discordance,
            std_of_difference=std_of_difference,
            power=power,
            alpha=alpha,
            alternative=alternative,
            method=method,
            cluster_size=cluster_size,
            icc=icc,
        )
    console = Console(highlight=False)
    if json:
        console.out(answer.to_json(), highlight=False)
    else:
        console.print(Text.assemble((f"{answer.n_items:,} items", "bold"), f": {answer.summary()}"))
