"""Sizes of experiments for small effects: the exact test of 0/1 answers, whose power has waves."""

from __future__ import annotations

import fastboot as fb

from .timing import seconds


class McNemar:
    """Effect and share of discordant items.

    Hardly any items are discordant, or all: power after power of 4 / effect numbers. One half of
    them: few numbers, each with many likely numbers of discordant items.
    """

    params = (((0.001, 0.001), (0.001, 0.5), (0.0001, 0.97), (0.0001, 1.0), (0.0001, 0.5)),)
    param_names = ("effect and discordance",)

    def track_seconds(self, known: tuple[float, float]) -> float:
        effect, discordance = known
        return seconds(lambda: fb.sample_size(effect=effect, discordance=discordance))

    track_seconds.unit = "s"
