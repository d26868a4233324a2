"""House rules: layers, compiler flags, the shape of the repository."""

from __future__ import annotations

import ast
import fnmatch
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fastboot

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fastboot"
# PKG-INFO: in an unpacked sdist.
TOP_LEVEL = {
    ".ci",
    ".git",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "benches",
    "fastboot",
    "pyproject.toml",
    "tests",
}
JIT_DECORATORS = {"cfunc", "guvectorize", "jit", "jit_module", "njit", "stencil", "vectorize"}
FLAGS = {
    "boundscheck",
    "cache",
    "error_model",
    "fastmath",
    "forceinline",
    "inline",
    "nogil",
    "nopython",
    "parallel",
}


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the import contracts of the project in `root`."""
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def test_layers__hold() -> None:
    """Every import contract is kept."""
    done = lint_imports(ROOT)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "file,statement,contract",
    [
        ("engine.py", "import fastboot.results", "Imports go one way"),
        ("units.py", "def f(): from fastboot import columns", "Imports go one way"),
        ("stray.py", "", "not listed"),
        ("reference/draws.py", "import numba", "The reference is plain Python"),
        ("results.py", "import fastboot.reference", "Nothing stands on the reference"),
        ("results.py", "def f(): import pyarrow.compute", "Only the border touches Arrow"),
        ("kernels/philox.py", "import scipy.special", "Kernels know only numbers"),
        ("engine.py", "from numba import njit", "Only the compiler and the kernels know numba"),
        ("results.py", "import rich", "Only the command line needs typer and rich"),
        ("cli/metrics.py", "import fastboot.cli.comparison", "The command line is built in layers"),
    ],
)
def test_layers__broken_contract_is_seen(
    tmp_path: Path, file: str, statement: str, contract: str
) -> None:
    """The contracts would catch a wrong import, at the top of a file and inside a function."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(PACKAGE, tmp_path / "fastboot", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "fastboot" / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{statement}\n")

    done = lint_imports(tmp_path)

    assert done.returncode == 1
    assert contract in " ".join(done.stdout.split())


def calls(path: Path) -> Iterator[ast.Call]:
    """Every call in a file, decorators included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_compiler_flags__one_file() -> None:
    """Only compiler.py names a compiler flag or a decorator of numba."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        if path.name == "compiler.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        flags = {keyword.arg for call in calls(path) for keyword in call.keywords}
        found += [(path.name, word) for word in (names & JIT_DECORATORS) | (flags & FLAGS)]

    assert found == []


# What tells a type checker which of several types a value has.
NARROWING = re.compile(r"(not )?isinstance\(.*\)|[\w.]+ is not None")


def test_library__asserts_narrow_types_only() -> None:
    """`python -O` changes nothing: where a value may be wrong, the library raises."""
    found = [
        f"{path.name}:{node.lineno}: {ast.unparse(node.test)}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
        and not (node.msg is None and NARROWING.fullmatch(ast.unparse(node.test)))
    ]

    assert found == []


def test_top_level__nothing_unexpected() -> None:
    """The top of the repository holds what belongs there, and what .gitignore names."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").split("\n")
    ignored = [line.strip("/") for line in lines if line and not line.startswith("#")]
    unexpected = {
        path.name
        for path in ROOT.iterdir()
        if not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored)
    } - TOP_LEVEL

    assert unexpected == set()


def test_version__matches_changelog() -> None:
    """The newest entry of the changelog is the version of the package."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)

    assert newest is not None
    assert fastboot.__version__ == newest[1]


def test_readme__test_command_is_run_by_ci() -> None:
    """What the README tells a newcomer to run as the test is what .ci/run ends with."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(
        r"^## Test it$.*?&& \.venv/bin/(python [^\n&]+)$", readme, re.MULTILINE | re.DOTALL
    )
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert command is not None
    assert command[1] == run[-1] == "python -m pytest"


def test_lint__every_exception_has_its_reason() -> None:
    """Each rule left out in pyproject.toml has a comment beside it."""
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = tomllib.loads(pyproject)["tool"]["ruff"]["lint"]
    ignored = [
        *lint["ignore"],
        *(rule for rules in lint["per-file-ignores"].values() for rule in rules),
    ]

    assert lint["select"] == ["ALL"]
    for rule in ignored:
        assert re.search(rf'^ +"{rule}", +# \S', pyproject, re.MULTILINE), rule
