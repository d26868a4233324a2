"""Every benchmark runs: once, at its smallest size; and asv finds them and runs one."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fastboot.compiler import cache_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

BENCHES = Path(__file__).parents[1] / "benches"
PREFIXES = ("time_", "track_", "peakmem_")


def benchmarks() -> Iterator[tuple[type, str]]:
    """Every class of every file with each of its methods that asv would run."""
    for path in sorted(BENCHES.glob("bench_*.py")):
        module = importlib.import_module(f"benches.{path.stem}")
        for name, value in vars(module).items():
            if inspect.isclass(value) and not name.startswith("_"):
                yield from ((value, method) for method in dir(value) if method.startswith(PREFIXES))


def smallest(benchmark: type) -> tuple[Any, ...]:
    """First value of every parameter; asv takes one list for one parameter."""
    params = getattr(benchmark, "params", ())
    if params and not isinstance(params[0], tuple | list):
        params = (params,)
    return tuple(values[0] for values in params)


@pytest.mark.parametrize(
    "benchmark,method",
    [pytest.param(*one, id=f"{one[0].__name__}.{one[1]}") for one in benchmarks()],
)
@pytest.mark.filterwarnings("default")  # what other packages warn of is theirs
def test_benchmarks__run_once(
    benchmark: type, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set-up and benchmark work at the smallest size, and what is tracked is a number."""
    monkeypatch.setattr("benches.timing.N_RUNS", 1)
    instance = benchmark()
    params = smallest(benchmark)
    try:
        if hasattr(instance, "setup"):
            instance.setup(*params)
    except NotImplementedError as error:
        pytest.skip(f"as asv does: {error}")  # a package to measure against is not installed
    answer = getattr(instance, method)(*params)

    if method.startswith("track_"):
        assert math.isfinite(answer)
        assert answer >= 0.0


def test_asv__runs_a_benchmark(tmp_path: Path) -> None:
    """`asv run --quick` works against the environment at hand, also without a git repository."""
    lines = (BENCHES / "asv.conf.json").read_text(encoding="utf-8").splitlines()
    config = json.loads("\n".join(line for line in lines if not line.startswith("//")))
    config["repo"] = str(BENCHES.parent)
    config["benchmark_dir"] = str(BENCHES)  # results and environments stay in the temporary folder
    (tmp_path / "asv.conf.json").write_text(json.dumps(config), encoding="utf-8")
    cache = cache_directory()
    environment = {
        **os.environ,
        "HOME": str(tmp_path),  # asv writes the description of the machine there
        "FASTBOOT_CACHE_DIR": "" if cache is None else str(cache.parent),
        "ASV_PYTHONPATH": str(BENCHES.parent),
    }

    def asv(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "asv", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert asv("machine", "--yes").returncode == 0
    done = asv("run", "--quick", "--python=same", "--bench", r"Continuous.time_answer\(10000, 'sw")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout
