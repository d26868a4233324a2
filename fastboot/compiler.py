"""How kernels are compiled, and where compiled code is kept.

The only file with Numba flags. Three decorators:

``exact``
    arithmetic that decides draws. Strict IEEE: no reordering, no fused multiply-add, so the same
    words give the same draws on every processor.
``kernel``
    a loop over units and a range of replicates that adds numbers up. Runs without the GIL, is
    compiled when first called, and is kept on disk. Sums may be reordered and fused; NaN and
    infinity keep their meaning (``nnan`` and ``ninf`` would make ``isnan`` always false).
``inlined``
    a piece of a kernel, with the kernel's flags.

What ``exact`` and ``inlined`` compile is never run by itself, so it gets no machine code: that was
a tenth of a first call.

The cache. Numba keeps compiled code beside the source and looks only at the file that holds the
function, so it serves stale code after an edit in a function called from another file. Here the
folder is named after a digest of every kernel source and of the compiler's version, the file
after the signature, the processor and Numba's switches. Any change leads to a new, empty place.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import pickle
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.core.typed_passes import NativeLowering

__all__ = ["cache_directory", "exact", "fingerprint", "inlined", "kernel"]

# Division by 0 gives infinity or NaN, as in NumPy, and needs no branch.
_ALWAYS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_REORDERED_SUMS = {"reassoc", "contract", "arcp", "nsz"}
# What of Numba's configuration changes the machine code, beside the processor's features.
_SWITCHES = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
)
_DIGEST_SIZE = hashlib.sha256().digest_size


class _Linked(JITCodeLibrary):
    """LLVM's code of a piece, to be linked into kernels; no machine code.

    It is optimised here: left to the kernel, kernels took 1.1 to 1.7 times as long, for loops over
    random words did not vectorise.
    """

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PieceLowering(NativeLowering):
    """Lowering that stops before there is machine code."""

    _name = "piece_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # What calls look the piece up by: Numba takes the function of Python's.
        key = state.cr.fndesc
        state.cr = state.cr._replace(cfunc=key)
        state.targetctx.insert_user_function(key, key, [state.library])
        return True


class _PieceCompiler(CompilerBase):
    """Numba's own passes, but for the last."""

    def define_pipelines(self) -> list[PassManager]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_PieceLowering if step is NativeLowering else step, words)
            for step, words in passes.passes
        ]
        passes.finalize()
        return [passes]


# Called from kernels only: wrappers for C and Python took a tenth of compilation.
_INLINED = _ALWAYS | {
    "forceinline": True, "no_cpython_wrapper": True, "pipeline_class": _PieceCompiler,
}  # fmt: skip


def exact(function: Callable[..., Any]) -> Any:
    """Compile scalar arithmetic with strict IEEE semantics, inlined into the kernels that call it.

    Parameters
    ----------
    function
        Takes and returns numbers only.
    """
    # False must be said: what is left open is taken from the kernel that calls.
    return _piece(numba.njit(fastmath=False, **_INLINED)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a piece of a kernel, inlined where it is called.

    Parameters
    ----------
    function
        Takes numbers and arrays; may write into its last arguments.
    """
    return _piece(numba.njit(fastmath=_REORDERED_SUMS, **_INLINED)(function))


def _piece(compiled: Any) -> Any:
    """Return a function that kernels call.

    No literal argument makes a version of its own: a fifth less to compile. Without a wrapper for
    Python, a call from there would end the process; it is refused.
    """
    if not isinstance(compiled, Dispatcher):  # the compiler is off
        return compiled
    template: Any = compiled.get_call_template

    def of_types(arguments: Any, keywords: Any) -> Any:
        return template(tuple(map(numba.types.unliteral, arguments)), keywords)

    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError(f"{compiled.py_func.__name__} is a piece of kernels; call it from a kernel")

    setattr(compiled, "get_call_template", of_types)  # noqa: B010 - unknown to types
    # What Python calls: known versions first, then what makes one.
    setattr(compiled, "_insert", lambda *_: None)  # noqa: B010 - unknown to types
    setattr(compiled, "_compile_for_args", refuse)  # noqa: B010 - unknown to types
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over units and a range of replicates; keep the machine code on disk.

    Parameters
    ----------
    function
        Takes numbers and arrays, writes its results into its last arguments.
    """
    compiled = numba.njit(fastmath=_REORDERED_SUMS, **_ALWAYS)(function)
    if isinstance(compiled, Dispatcher):
        dispatcher: Any = compiled
        compile_for = dispatcher._compile_for_args

        def compile_or_load(*arguments: Any, **keywords: Any) -> Any:
            _load_numba(dispatcher.targetctx)
            with _no_collection():
                return compile_for(*arguments, **keywords)

        dispatcher._compile_for_args = compile_or_load
    directory = cache_directory()
    package, _, module = function.__module__.rpartition(".")
    # The fingerprint is of these sources. With the compiler off, there is nothing to keep.
    ours = package == f"{__package__}.kernels" and isinstance(compiled, Dispatcher)
    if directory is not None and ours:
        name = f"{module}.{function.__name__}"
        # What Numba's own cache=True sets.
        setattr(compiled, "_cache", _KernelCache(name, directory))  # noqa: B010 - unknown to types
    return compiled


@contextmanager
def _no_collection() -> Iterator[None]:
    """Leave cycles of objects alone for a while.

    A compilation makes millions of objects that live until its end: looking through them again and
    again took a tenth of its time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@functools.cache
def _load_numba(context: Any) -> None:
    """Let Numba import and enter what it can compile, whole.

    It takes every entry from its list before it enters it: an interruption in there (0.4 s of a
    first call) loses entries, and nothing compiles until the process ends. So this is done in a
    thread of its own, where no signal is handled. What a handler raises meanwhile (Ctrl-C, or a
    time limit of the caller's) is raised at the end. An error of the loading itself is raised by
    the compilation that follows, as it begins with the same step.
    """
    raised = None
    try:
        with ThreadPoolExecutor(1, "fastboot") as pool:
            loading = pool.submit(global_compiler_lock(context.refresh))
            while not loading.done():
                try:
                    wait([loading])
                except BaseException as error:  # raised below
                    raised = error
    except RuntimeError:  # the interpreter ends: no thread may start
        return
    if raised is not None:
        raise raised


def fingerprint() -> str:
    """Return a digest of the sources and versions that machine code depends on."""
    digest = hashlib.sha256()
    versions = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag)
    digest.update("\0".join(map(str, versions)).encode())
    here = Path(__file__)
    for source in (here, *sorted(here.with_name("kernels").rglob("*.py"))):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]  # 64 bits: no collision among the few versions one user runs


@functools.cache
def cache_directory() -> Path | None:
    """Return the folder for compiled kernels, or None where nothing can be written.

    ``FASTBOOT_CACHE_DIR`` (empty: no cache), else the user's own cache folder. Never a shared
    temporary folder: cached code is unpickled and run.
    """
    base = _base_directory()
    if base is None:
        return None
    directory = base / fingerprint()
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return directory if os.access(directory, os.W_OK) else None


def _base_directory() -> Path | None:
    chosen = os.environ.get("FASTBOOT_CACHE_DIR")
    if chosen is not None:
        return Path(chosen) if chosen else None
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises without a home
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "fastboot" / "cache" if local else None
    if sys.platform == "darwin":
        parent = home / "Library" / "Caches"
        return parent / "fastboot" if parent.is_dir() else None
    chosen = os.environ.get("XDG_CACHE_HOME")
    if chosen and Path(chosen).is_absolute():
        return Path(chosen) / "fastboot"
    # A home that does not exist is not made: root could, and containers set HOME=/nonexistent.
    return home / ".cache" / "fastboot" if home.is_dir() else None


class _KernelCache(NullCache):
    """One file per kernel, signature and processor; what cannot be read is compiled again.

    A file is the SHA-256 of the pickle, then the pickle: a truncated or damaged file is not run.
    """

    def __init__(self, name: str, directory: Path) -> None:
        self._name = name
        self._directory = directory

    @property
    def cache_path(self) -> str:
        return str(self._directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            stored = self._file(sig, target_context.codegen()).read_bytes()
            digest, payload = stored[:_DIGEST_SIZE], stored[_DIGEST_SIZE:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # what Numba cannot rebuild raises anything; compiling is always right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        payload: bytes = dumps(data._reduce())
        target = self._file(sig, data.codegen)
        partial = target.with_suffix(f".{uuid.uuid4().hex}")
        try:
            partial.write_bytes(hashlib.sha256(payload).digest() + payload)
            partial.replace(target)
        except OSError:  # full or read-only disk: the code stays in memory
            partial.unlink(missing_ok=True)

    def _file(self, signature: Any, codegen: Any) -> Path:
        switches = [getattr(numba.config, name, None) for name in _SWITCHES]
        # The tuple names the processor.
        key = repr((signature, codegen.magic_tuple(), switches)).encode()
        return self._directory / f"{self._name}-{hashlib.sha256(key).hexdigest()[:16]}.bin"
