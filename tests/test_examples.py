"""The shipped evaluation file holds what its README says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fastboot.examples import example_path, load_example

# Published with the UCI data set: 4,827 ham, 747 spam.
N_SPAM, N_HAM = 747, 4_827
# Limit for real data in the package, in bytes.
LARGEST_FILE = 300_000


def counts(predicted: str) -> tuple[int, int, int]:
    """True positives, false positives and false negatives of one classifier."""
    table = load_example()
    gold, answer = table["spam"].to_numpy(), table[predicted].to_numpy()
    return (
        int(np.sum((gold == 1) & (answer == 1))),
        int(np.sum((gold == 0) & (answer == 1))),
        int(np.sum((gold == 1) & (answer == 0))),
    )


def test_load_example__schema() -> None:
    """Column names, types and the absence of nulls are part of the promise."""
    int8, int32, float32 = pa.int8(), pa.int32(), pa.float32()
    expected = {
        "message": int32,
        "text": int32,
        "spam": int8,
        "naive_bayes": int8,
        "logistic": int8,
        "naive_bayes_probability": float32,
        "logistic_probability": float32,
    }
    table = load_example()

    assert expected == dict(zip(table.schema.names, table.schema.types, strict=True))
    assert not any(column.null_count for column in table.columns)


def test_load_example__published_counts() -> None:
    """The labels are those of the data set; equal texts are grouped."""
    table = load_example()
    spam = table["spam"].to_numpy()
    _, sizes = np.unique(table["text"].to_numpy(), return_counts=True)

    assert (N_SPAM, N_HAM) == (np.sum(spam == 1), np.sum(spam == 0))
    assert (5_159, 30) == (sizes.size, sizes.max())
    assert np.array_equal(np.arange(5_574), table["message"].to_numpy())


def test_load_example__groups_agree_on_the_label() -> None:
    """No text is both spam and ham."""
    table = load_example()
    pairs = set(zip(table["text"].to_pylist(), table["spam"].to_pylist(), strict=True))

    assert len(pairs) == 5_159


@pytest.mark.parametrize(
    "predicted,expected", [("naive_bayes", (692, 21, 55)), ("logistic", (689, 4, 58))]
)
def test_load_example__predictions(predicted: str, expected: tuple[int, int, int]) -> None:
    """Counts of tp, fp and fn are those of data/README.md; labels follow the probabilities."""
    table = load_example()
    probability = table[f"{predicted}_probability"].to_numpy()

    assert expected == counts(predicted)
    assert np.array_equal(probability >= 0.5, table[predicted].to_numpy() == 1)
    assert f"| {' | '.join(map(str, expected))} |" in readme()


def readme() -> str:
    """The text beside the data."""
    return example_path().with_name("README.md").read_text(encoding="utf-8")


def test_data__licence_and_source_are_named() -> None:
    """CC BY asks for the authors, the source, the licence and the changes."""
    for required in ("Almeida", "Hidalgo", "10.24432/C5CC84", "CC BY 4.0", "Changes made"):
        assert required in readme()


def test_example_path__small_parquet() -> None:
    """A file that readers can be pointed at, zstd, small."""
    path = example_path()
    metadata = pq.read_metadata(path)

    assert isinstance(path, Path)
    assert path.stat().st_size < LARGEST_FILE
    assert metadata.row_group(0).column(0).compression == "ZSTD"
