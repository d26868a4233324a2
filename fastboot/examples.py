"""The real evaluation that ships with the package: two spam classifiers on the same messages.

``fastboot/data/README.md`` describes the columns and names the source and its licence.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["example_path", "load_example"]


def example_path() -> Path:
    """Path of the example file, a Parquet file that ``data=`` and the command line accept.

    Examples
    --------
    >>> example_path().name
    'sms_spam.parquet'
    """
    return Path(__file__).with_name("data") / "sms_spam.parquet"


def load_example() -> pa.Table:
    """Gold labels and the answers of two classifiers for the SMS Spam Collection.

    Returns
    -------
    pyarrow.Table
        5,574 rows, no nulls. ``message`` (row number) and ``text`` (messages with the same text
        share a number; 5,159 of them) are int32; ``spam`` (gold), ``naive_bayes`` and ``logistic``
        (predicted) are int8, 1 for spam and 0 for ham; ``naive_bayes_probability`` and
        ``logistic_probability`` are float32.

    Notes
    -----
    Equal messages are not independent: pass ``groups="text"`` to resample texts.

    The labels are the SMS Spam Collection of Almeida and Gómez Hidalgo (UCI Machine Learning
    Repository, data set 228, CC BY 4.0).

    Examples
    --------
    >>> table = load_example()
    >>> table.column_names[:5]
    ['message', 'text', 'spam', 'naive_bayes', 'logistic']
    >>> table.num_rows
    5574
    """
    # Here, not above: `import fastboot` stays quick.
    import pyarrow.parquet as pq

    return pq.read_table(example_path())
