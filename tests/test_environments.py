"""Threads, forks, containers, switches: the same answer everywhere, and nothing left behind."""

from __future__ import annotations

import errno
import hashlib
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pytest

import fastboot as fb
from fastboot import compiler, engine
from fastboot.paths import BOOTSTRAP_PATHS
from fastboot.swap_paths import SWAP_PATHS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(fb.__file__).parents[1]
# Beyond any compilation on a busy machine: only a hang takes longer.
HANG = 120.0

# Every path on few units. The scores are whole numbers, whose sums are exact in any order.
EVERY_PATH = f"""
import numpy as np
import fastboot as fb

def every_path():
    a, b = np.random.default_rng(5).integers(-9, 10, (2, 40)).astype(float)
    found = []
    for path in {BOOTSTRAP_PATHS}:
        found.append(fb.paired_bootstrap(a, b, n_resamples=3, rng=1, path=path, n_threads=2))
    for path in {SWAP_PATHS}:
        few = slice(8) if path == "enumeration" else slice(None)
        found.append(fb.approximate_randomization(a[few], b[few], n_resamples=3, rng=1, path=path))
    return [result.replicates.tolist() for result in found]
"""
# One small kernel, for runs that compile.
ONE_PATH = """
import fastboot as fb
print(fb.bootstrap([0.5, 0.25, 1.5, 3.0], n_resamples=3, rng=1, path="rows").replicates.tolist())
"""


def python(script: str, *options: str, **environment: str | None) -> str:
    """Run a script in a process of its own; return what it printed. None removes a variable."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(
        [sys.executable, *options, "-c", script],
        env={name: value for name, value in variables.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def every_path() -> str:
    """Return the replicates of every path, computed in this process."""
    scope: dict[str, Any] = {}
    exec(EVERY_PATH, scope)  # noqa: S102 - the very text that the other processes run
    return f"{scope['every_path']()}\n"


@pytest.fixture(scope="module")
def one_path() -> str:
    """Return the replicates of the small job, computed in this process."""
    scores = [0.5, 0.25, 1.5, 3.0]
    result = fb.bootstrap(scores, n_resamples=3, rng=1, path="rows")
    return f"{result.replicates.tolist()}\n"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], bytes]:
    """Return a call of both procedures on two threads of its own, by its seed."""
    monkeypatch.setattr(engine, "_SINGLE_THREAD_WORK", 0.0)
    a, b = np.random.default_rng(7).random((2, 500))

    def call(seed: int) -> bytes:
        bootstrap = fb.paired_bootstrap(a, b, n_resamples=200, rng=seed, n_threads=2)
        swaps = fb.approximate_randomization(a, b, n_resamples=200, rng=seed, n_threads=2)
        return bytes(bootstrap.replicates.tobytes() + swaps.replicates.tobytes())

    return call


# Threads


@pytest.mark.parametrize("layer", ["workqueue", "default"])
def test_threads__each_calls_thirty_times(
    calls: Callable[[int], bytes], layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 42: four Python threads at once get what sequential calls get, on any Numba layer."""
    monkeypatch.setenv("NUMBA_THREADING_LAYER", layer)
    expected = [calls(seed) for seed in range(120)]
    with ThreadPoolExecutor(4) as pool:
        assert expected == list(pool.map(calls, range(120)))


def test_threads__compile_at_once(tmp_path: Path, every_path: str) -> None:
    """Threads of a fresh process that need the same uncompiled kernels at once all get them."""
    script = EVERY_PATH + (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    found = [pool.submit(every_path) for _ in range(4)]\n"
        "print({str(future.result()) for future in found}.pop() if len({str(f.result()) "
        "for f in found}) == 1 else found)\n"
    )
    assert every_path == python(script, FASTBOOT_CACHE_DIR=str(tmp_path))


def test_workers__thread_pool(calls: Callable[[int], bytes]) -> None:
    """Inside four workers of a pool of threads."""
    with ThreadPool(4) as pool:
        assert [calls(seed) for seed in range(8)] == pool.map(calls, range(8))


def test_workers__joblib(calls: Callable[[int], bytes]) -> None:
    """Inside four workers of joblib."""
    tasks = (joblib.delayed(calls)(seed) for seed in range(8))
    parallel = joblib.Parallel(4, backend="threading")
    assert [calls(seed) for seed in range(8)] == parallel(tasks)


# Processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_fork__after_a_call_with_threads(every_path: str) -> None:
    """Case 43: a forked child answers as its parent did, before and after the parent's own call."""
    script = (
        "import os, sys, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)  # fork beside threads of others\n"
        + EVERY_PATH
        + "before = every_path()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(every_path() != before)\n"
        "assert every_path() == before\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "print(before)\n"
    )
    assert every_path == python(script)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing__children(method: str, every_path: str, tmp_path: Path) -> None:
    """Two children started in any way, after a call in the parent, answer as it does."""
    module = tmp_path / "job.py"
    module.write_text(
        "import multiprocessing, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)  # fork beside threads of others\n"
        + EVERY_PATH
        + "if __name__ == '__main__':\n"
        "    before = every_path()\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        found = [pool.apply_async(every_path) for _ in range(2)]\n"
        f"        assert [before, before] == [one.get({HANG}) for one in found]\n"
        "    print(before)\n",
        encoding="utf-8",
    )
    script = f"import runpy; runpy.run_path({str(module)!r}, run_name='__main__')"
    if method != "fork":  # a child imports the main module by its path
        script = f"import subprocess, sys; subprocess.run([sys.executable, {str(module)!r}])"
    assert every_path == python(script)


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_python__optimised(option: str, every_path: str) -> None:
    """No check or answer hangs on `assert` or on docstrings."""
    assert every_path == python(EVERY_PATH + "print(every_path())", option)


# Where nothing can be written


def files(*roots: Path) -> dict[Path, int]:
    """Every file below some folders, and when it was written."""
    return {path: path.stat().st_mtime_ns for root in roots for path in root.rglob("*")}


def test_container__read_only(
    tmp_path: Path, one_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 44: read-only package, no home: an answer, no file, no warning."""
    package = tmp_path / "package"
    shutil.copytree(
        ROOT / "fastboot", package / "fastboot", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    temporary, here = tmp_path / "temporary", tmp_path / "here"
    temporary.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    before = files(tmp_path)

    answer = python(
        ONE_PATH,
        "-B",  # bytecode beside the sources is Python's own
        PYTHONPATH=str(package),
        HOME="/nonexistent",
        TMPDIR=str(temporary),
        FASTBOOT_CACHE_DIR=None,
        NUMBA_CACHE_DIR=None,
        XDG_CACHE_HOME=None,
    )

    # `python` has seen that standard error is empty; root may write where others may not.
    assert one_path == answer
    assert before == files(tmp_path)
    assert not Path("/nonexistent").exists()


@pytest.mark.parametrize("folder", ["", f"{os.devnull}/cache"])
def test_cache__none(folder: str, one_path: str, tmp_path: Path) -> None:
    """An empty FASTBOOT_CACHE_DIR, or one that cannot be made: no cache, and no word about it."""
    script = ONE_PATH + "from fastboot import compiler; assert compiler.cache_directory() is None"
    assert one_path == python(script, FASTBOOT_CACHE_DIR=folder, HOME=str(tmp_path))
    assert {} == files(tmp_path)


def test_cache__not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of someone else's is no cache."""
    monkeypatch.setenv("FASTBOOT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere

    assert compiler.cache_directory.__wrapped__() is None


def test_cache__disk_is_full(tmp_path: Path, one_path: str) -> None:
    """Where a file cannot be finished, the answer comes all the same, and no half of it stays."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n"

    assert one_path == python(limit + ONE_PATH, "-B", FASTBOOT_CACHE_DIR=str(tmp_path))
    assert [] == [path for path in files(tmp_path) if path.is_file()]


def cached(folder: Path) -> list[Path]:
    """Return the files of compiled kernels; there is nothing else in the folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    assert {".bin"} >= {path.suffix for path in found}
    return found


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory, one_path: str) -> Path:
    """Make a cache that holds the kernel of the small job."""
    folder = tmp_path_factory.mktemp("cache")
    assert one_path == python(ONE_PATH, FASTBOOT_CACHE_DIR=str(folder))
    assert len(cached(folder)) == 1
    return folder


def truncated(content: bytes) -> bytes:
    """Keep half a file."""
    return content[: len(content) // 2]


def damaged(content: bytes) -> bytes:
    """Flip one bit in the middle of a file."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def emptied(_: bytes) -> bytes:
    """Keep nothing of a file."""
    return b""


def foreign(_: bytes) -> bytes:
    """Return an unharmed file that holds something else."""
    payload = pickle.dumps(("not", "a", "kernel"))
    return hashlib.sha256(payload).digest() + payload


@pytest.mark.parametrize("harm", [truncated, damaged, foreign, emptied])
def test_cache__harmed_file_is_compiled_again(
    harm: Callable[[bytes], bytes], warm: Path, tmp_path: Path, one_path: str
) -> None:
    """A file that is not what was written is neither run nor kept."""
    folder = tmp_path / "cache"
    shutil.copytree(warm, folder)
    (file,) = cached(folder)
    unharmed = file.read_bytes()
    file.write_bytes(harm(unharmed))

    assert one_path == python(ONE_PATH, FASTBOOT_CACHE_DIR=str(folder))
    assert [file] == cached(folder)
    assert len(file.read_bytes()) > len(unharmed) // 2
    repaired = files(folder)
    assert one_path == python(ONE_PATH, FASTBOOT_CACHE_DIR=str(folder))
    assert repaired == files(folder)


def test_cache__two_processes_compile_at_once(tmp_path: Path, one_path: str) -> None:
    """Both answer, and one whole file stays."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda _: python(ONE_PATH, FASTBOOT_CACHE_DIR=str(tmp_path)), range(2))
        )
    written = files(tmp_path)

    assert [one_path, one_path] == answers
    assert len(cached(tmp_path)) == 1
    assert one_path == python(ONE_PATH, FASTBOOT_CACHE_DIR=str(tmp_path))
    assert written == files(tmp_path)


def test_cache__save_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up while a file is moved into place: the half-written file goes."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Compiled:
        codegen = None

        def _reduce(self) -> tuple[int, ...]:
            return (1, 2, 3)

    monkeypatch.setattr(Path, "replace", full)
    cache = compiler._KernelCache("kernel", tmp_path)
    monkeypatch.setattr(cache, "_file", lambda *_: tmp_path / "kernel.bin")
    cache.save_overload(None, Compiled())

    assert [] == list(tmp_path.iterdir())


# Global state


GLOBAL_STATE = """
import decimal, locale, os, random, signal, sys, threading, warnings
import numba, numpy as np, pandas, pyarrow.compute, scipy.special  # their own traces come first
import fastboot as fb

def state():
    return {
        "threads of numba": numba.get_num_threads(),
        "random": str(np.random.get_state()) + str(random.getstate()),
        "warnings": list(warnings.filters),
        "errors": np.geterr(),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "environment": dict(os.environ),
        "threads": threading.enumerate(),
        "hooks": [sys.excepthook, threading.excepthook, sys.getswitchinterval()],
        "formats": [locale.setlocale(locale.LC_ALL), str(decimal.getcontext())],
    }

before = state()
rng = np.random.default_rng(0)
a, b = rng.random((2, 3_000))
for method in ("percentile", "bca"):
    result = fb.paired_bootstrap(a, b, rng=0, method=method, n_threads=2)
    result.pvalue, result.confidence_interval
fb.approximate_randomization(a, b, n_threads=2).pvalue
with warnings.catch_warnings(record=True):
    warnings.simplefilter("always")
    fb.bootstrap(fb.ratio([1, 0, 0], [1, 0, 0]), rng=0).confidence_interval
after = state()
print([name for name in before if before[name] != after[name]])
"""


def test_global_state__unchanged() -> None:
    """No setting of the process, of NumPy or of Numba is another after the calls."""
    assert "[]\n" == python(GLOBAL_STATE)


# Numba's switches


def test_switch__compiler_off(every_path: str) -> None:
    """NUMBA_DISABLE_JIT=1 draws the same; only the wrap-around of integers warns."""
    wrap = "ignore:overflow encountered in scalar:RuntimeWarning"
    script = EVERY_PATH + "print(every_path())"
    assert every_path == python(script, "-W", "error", "-W", wrap, NUMBA_DISABLE_JIT="1")


EVERY_SIZE = f"""
import numpy as np
import fastboot as fb

rng = np.random.default_rng(0)
for n in (1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 256, 257, 65_535, 65_536, 65_537, 131_073):
    a, b = rng.random((2, n))
    for path in {BOOTSTRAP_PATHS}:
        for n_resamples in (1, 5):
            fb.paired_bootstrap(a, b, n_resamples=n_resamples, rng=n, path=path)
    for path in {SWAP_PATHS}:
        few = min(n, 12) if path == "enumeration" else n
        for n_resamples in (1, 5):
            fb.approximate_randomization(
                a[:few], b[:few], n_resamples=n_resamples, rng=n, path=path
            )
"""


def test_switch__bounds_checks(tmp_path: Path) -> None:
    """No kernel reads or writes beside its arrays; without the switch that would go unseen."""
    python(EVERY_SIZE, NUMBA_BOUNDSCHECK="1", FASTBOOT_CACHE_DIR=str(tmp_path))


def test_switch__bounds_checks_see() -> None:
    """The switch reaches what is inlined into a kernel: a fourth word of three is an IndexError."""
    script = (
        "import numpy as np\n"
        "from fastboot.compiler import kernel\n"
        "from fastboot.kernels.philox import fill_positions\n"
        "@kernel\n"
        "def fill(key, words):\n"
        "    fill_positions(0, 0, 0, 0, key, key, words)\n"
        "try:\n"
        "    fill(np.uint32(1), np.zeros((1, 3), np.uint32))\n"
        "except IndexError:\n"
        "    print('seen')\n"
    )
    assert "seen\n" == python(script, NUMBA_BOUNDSCHECK="1")
