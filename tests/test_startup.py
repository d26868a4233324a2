"""Start-up: a light import, no compilation that is not needed, and never stale machine code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba
import pytest

import fastboot as fb
from fastboot import compiler

ROOT = Path(fb.__file__).parents[1]
HEAVY = (
    "numba", "llvmlite", "scipy", "pandas", "polars", "typer", "rich", "pyarrow.compute",
    "pyarrow.parquet", "pyarrow.dataset", "pyarrow.csv", "pyarrow.json", "duckdb", "asyncio",
)  # fmt: skip
# Says which functions the compiler compiled and which kernels came from the cache.
WATCH = """
import json, sys
import fastboot as fb

def report():
    found = {"compiled": [], "loaded": [], "modules": sorted(sys.modules)}
    for name, module in list(sys.modules.items()):
        if name.startswith("fastboot.kernels."):
            for function in vars(module).values():
                if getattr(function, "__module__", None) == name and hasattr(function, "stats"):
                    hits = sum(function.stats.cache_hits.values())
                    found["loaded"] += [function.__name__] * hits
                    if len(function.signatures) > hits:
                        found["compiled"].append(function.__name__)
    return found
"""
SMALL_JOB = """
result = fb.paired_bootstrap(
    [0.5, 0.25, 1.5, 3.0] * 5, [0.25] * 20, n_resamples=9, rng=1, method="percentile"
)
result.confidence_interval, result.pvalue
"""
REPLICATES = """
import fastboot as fb
print(fb.bootstrap([0.5, 0.25, 1.5, 3.0], n_resamples=20, rng=1).replicates.tolist())
"""


def python(script: str, cache: Path, package: Path = ROOT, **environment: str) -> str:
    """Run a script in a process of its own, with a cache; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],  # -P: not the package in the working folder
        env=os.environ
        | {"PYTHONPATH": str(package), "FASTBOOT_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def watched(script: str, cache: Path) -> dict[str, Any]:
    """Run a script; return what was compiled, what was loaded, and which modules were imported."""
    found: dict[str, Any] = json.loads(
        python(f"{WATCH}{script}\nprint(json.dumps(report()))", cache)
    )
    return found


def files(folder: Path) -> dict[Path, int]:
    """Cached kernels, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.bin")}


def test_import__is_light(tmp_path: Path) -> None:
    """`import fastboot` loads no compiler, no reader and no data frame, and touches no cache."""
    found = watched("", tmp_path / "cache")

    assert [] == [name for name in HEAVY if name in found["modules"]]
    assert [] == [name for name in found["modules"] if name.startswith("fastboot.kernels.")]
    assert not (tmp_path / "cache").exists()


def test_first_call__compiles_one_kernel(tmp_path: Path) -> None:
    """A small job waits for the one kernel that it runs, and for no statistics package."""
    found = watched(SMALL_JOB, tmp_path)

    assert ["segments.add_segment_sums"] == [
        path.name.partition("-")[0] for path in files(tmp_path)
    ]
    assert "add_segment_sums" in found["compiled"]
    for module in ("scipy.stats", "fastboot.kernels.patterns", "fastboot.kernels.binomial"):
        assert module not in found["modules"]


PIECE = """
import numpy as np
import fastboot as fb
from fastboot.kernels.philox import fill_positions
for _ in range(2):
    try:
        fill_positions(0, 0, 0, 0, np.uint32(1), np.uint32(1), np.zeros((1, 4), np.uint32))
    except TypeError as error:
        print(error)
    fb.bootstrap([1.0, 2.0, 4.0], rng=0, n_resamples=10)
"""


def test_pieces__called_from_python(tmp_path: Path) -> None:
    """They have no wrapper: refused by name, before and after a kernel has made a version."""
    line = "fill_positions is a piece of kernels; call it from a kernel\n"
    assert 2 * line == python(PIECE, tmp_path)


def test_pieces__of_the_same_types(tmp_path: Path) -> None:
    """A kernel calls the piece it names, not another that takes and returns the same types."""
    script = """
import numpy as np
from fastboot.compiler import exact, inlined, kernel

@exact
def double(x):
    return 2.0 * x

@inlined
def triple(x):
    return 3.0 * x

@kernel
def both(x, out):
    out[0] = double(x)
    out[1] = triple(x)

out = np.empty(2)
both(1.0, out)
print(*out)
"""
    assert python(script, tmp_path) == "2.0 3.0\n"


def test_first_call__warm_cache_compiles_nothing(tmp_path: Path) -> None:
    """In the next process the kernel is loaded: nothing is compiled, no file is written."""
    watched(SMALL_JOB, tmp_path)
    before = files(tmp_path)
    found = watched(SMALL_JOB, tmp_path)

    assert [] == found["compiled"]
    assert ["add_segment_sums"] == found["loaded"]
    assert before == files(tmp_path)


def test_kernels__one_version_for_all_shapes(tmp_path: Path) -> None:
    """Neither the number of terms nor of resamples compiles a kernel again."""
    script = """
import numpy as np
import fastboot as fb

x, y = np.random.default_rng(0).uniform(0.5, 1.5, (2, 40))
for n_resamples in (5, 5_000):
    for statistic in (x, fb.ratio(x, y)):
        for path in ("rows", "collapse"):
            fb.bootstrap(statistic, n_resamples=n_resamples, rng=0, path=path)
        fb.approximate_randomization(x, y, n_resamples=n_resamples, rng=0, path="tables")
"""
    watched(script, tmp_path)
    names = sorted(path.name.partition("-")[0] for path in files(tmp_path))

    assert [
        "collapse.add_class_sums",
        "collapse.find_classes",
        "segments.add_segment_sums",
        "swaps.add_swap_sums",
    ] == names


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy the package, so that its sources can be edited."""
    copy = tmp_path / "package"
    shutil.copytree(
        ROOT / "fastboot", copy / "fastboot", ignore=shutil.ignore_patterns("__pycache__")
    )
    return copy


def edit(file: Path, old: str, new: str) -> None:
    """Replace the one place of a text in a source."""
    source = file.read_text(encoding="utf-8")
    assert source.count(old) == 1
    file.write_text(source.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    "old,new",
    [
        ("_WEYL_0 = np.uint32(0x9E3779B9)", "_WEYL_0 = np.uint32(0x9E3779B1)"),
        ("SWAPS, FLIPS = range(1, 8)", "SWAPS, FLIPS = range(2, 9)"),
    ],
)
def test_cache__edited_callee_in_another_file(
    old: str, new: str, package: Path, tmp_path: Path
) -> None:
    """A constant of philox.py is folded into add_segment_sums: an edit shows at once."""
    cache = tmp_path / "cache"
    source = package / "fastboot" / "kernels" / "philox.py"
    original = python(REPLICATES, cache, package)
    edit(source, old, new)
    edited = python(REPLICATES, cache, package)
    edit(source, new, old)
    before = files(cache)
    restored = python(REPLICATES, cache, package)

    assert original != edited
    assert original == restored
    assert before == files(cache)
    assert len(list(cache.iterdir())) == 2  # a folder for each version


def test_fingerprint__every_source(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit of any kernel source, of the compiler, or a new or renamed kernel changes it."""
    monkeypatch.setattr(compiler, "__file__", str(package / "fastboot" / "compiler.py"))
    kernels = package / "fastboot" / "kernels"
    seen = {compiler.fingerprint()}
    sources = [package / "fastboot" / "compiler.py", *sorted(kernels.glob("*.py"))]
    for source in sources:
        with source.open("a", encoding="utf-8") as text:
            text.write("#\n")
        seen.add(compiler.fingerprint())
    (kernels / "more.py").touch()
    seen.add(compiler.fingerprint())
    (kernels / "more.py").rename(kernels / "most.py")
    seen.add(compiler.fingerprint())

    assert len(sources) > 10
    assert len(seen) == 1 + len(sources) + 2


@pytest.mark.parametrize("owner,name", [(numba, "__version__"), (llvmlite, "__version__")])
def test_fingerprint__versions(owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of the compiler starts with an empty cache."""
    before = compiler.fingerprint()
    monkeypatch.setattr(owner, name, "0.0.0")

    assert before != compiler.fingerprint()


def test_fingerprint__python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of Python starts with an empty cache."""
    before = compiler.fingerprint()
    monkeypatch.setattr(sys.implementation, "cache_tag", "other-99")

    assert before != compiler.fingerprint()


def test_cache__another_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is that of the fingerprint, below FASTBOOT_CACHE_DIR, for its owner only."""
    monkeypatch.setenv("FASTBOOT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler, "fingerprint", lambda: "other")
    folder = compiler.cache_directory.__wrapped__()

    assert tmp_path / "other" == folder
    assert folder.is_dir()
    assert sys.platform == "win32" or folder.stat().st_mode & 0o077 == 0


class Codegen:
    """A processor, as far as names of cached files go."""

    def __init__(self, processor: str = "one") -> None:
        self.processor = processor

    def magic_tuple(self) -> tuple[str, str]:
        """Return what Numba says of the processor."""
        return ("triple", self.processor)


@pytest.mark.parametrize("switch", compiler._SWITCHES)
def test_cache__switch_of_numba(
    switch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code compiled with another switch (bounds checks, optimisation) has another name."""
    cache = compiler._KernelCache("kernel", tmp_path)
    before = cache._file("signature", Codegen())
    monkeypatch.setattr(numba.config, switch, "other")

    assert before != cache._file("signature", Codegen())


def test_cache__processor_and_signature(tmp_path: Path) -> None:
    """Code for another processor or other types has another name."""
    cache = compiler._KernelCache("kernel", tmp_path)
    names = {
        cache._file("signature", Codegen()),
        cache._file("signature", Codegen("two")),
        cache._file("other", Codegen()),
    }

    assert len(names) == 3


def test_cache__bounds_checks_are_kept_apart(tmp_path: Path) -> None:
    """A run with NUMBA_BOUNDSCHECK=1 neither takes nor leaves code of runs without."""
    answers = {
        python(REPLICATES, tmp_path, NUMBA_BOUNDSCHECK=value) for value in ("0", "1", "0", "1")
    }

    assert len(answers) == 1
    assert len(files(tmp_path)) == 2


def test_cache__only_own_kernels(tmp_path: Path) -> None:
    """The fingerprint covers the sources of the package; a kernel from elsewhere is not kept."""
    script = (
        "import numpy as np\n"
        "from fastboot.compiler import kernel\n"
        "@kernel\n"
        "def elsewhere(out):\n"
        "    out[0] = 1.0\n"
        "elsewhere(np.empty(1))\n"
    )
    python(script, tmp_path)

    assert {} == files(tmp_path)


@pytest.mark.parametrize(
    "environment,folder",
    [
        ({"FASTBOOT_CACHE_DIR": "here"}, "here"),
        ({"FASTBOOT_CACHE_DIR": ""}, None),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/fastboot"),
        ({"XDG_CACHE_HOME": "relative"}, "HOME/.cache/fastboot"),
        ({"XDG_CACHE_HOME": ""}, "HOME/.cache/fastboot"),
        ({}, "HOME/.cache/fastboot"),
        ({"HOME": "/nonexistent"}, None),
    ],
)
def test_cache__folder_on_linux(
    environment: dict[str, str],
    folder: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The variable, else the user's cache folder, else nothing: never a shared folder."""
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("FASTBOOT_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": str(tmp_path)} | environment).items():
        monkeypatch.setenv(name, value)
    expected = None if folder is None else Path(folder.replace("HOME", str(tmp_path)))

    assert expected == compiler._base_directory()


def test_cache__folder_on_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's cache folder of macOS and of Windows."""
    monkeypatch.delenv("FASTBOOT_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert compiler._base_directory() is None
    (tmp_path / "Library" / "Caches").mkdir(parents=True)
    assert tmp_path / "Library" / "Caches" / "fastboot" == compiler._base_directory()

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert tmp_path / "Local" / "fastboot" / "cache" == compiler._base_directory()
    monkeypatch.delenv("LOCALAPPDATA")
    assert compiler._base_directory() is None


@pytest.mark.parametrize("state", ["enable", "disable"])
def test_first_call__leaves_the_collector_as_it_was(state: str, tmp_path: Path) -> None:
    """It rests while a kernel is compiled, and only then."""
    script = f"""
import gc
import fastboot as fb
gc.{state}()
fb.bootstrap([1.0, 2.0, 4.0], rng=0, n_resamples=10)
print(gc.isenabled())
"""
    assert python(script, tmp_path) == f"{state == 'enable'}\n"
