"""``python -m fastboot``, the same command as ``fastboot``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line with the arguments of this process; return its exit code.

    0 after an answer, 2 after bad usage or bad data, 130 after Ctrl-C; see `fastboot.cli.run`.
    """
    try:
        from fastboot import cli

        return cli.run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in {"rich", "typer"}:
            raise
        sys.stderr.write(
            f"fastboot: the command line needs {missing}, which is not installed; "
            "pip install 'fastboot-eval[cli]'\n"
        )
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
