"""Keys of any length become numbers, and values are added up by number.

A key is a string of bytes. The distinct ones are kept in one array of 64-bit words, the *records*:
a head (the key's number in the high half, its length in the low half), then its bytes, filled up
with zeros to a whole word. A table with open addressing finds them. Its entries have 32 bits of the
hash and the place of the record, so that a wrong record is seldom looked at and the table grows
without a look at any; bytes decide.

A million keys are larger than the caches, and a row would wait for memory twice, once for its entry
and once for its record. So 64 rows go together: all their hashes, all entries, all records, all
answers, in loops so short that the processor has many waits at a time (80 ns a row; 150 where the
first two loops are one, 400 row by row).
"""

from __future__ import annotations

import numpy as np

from fastboot.compiler import inlined, kernel

__all__ = ["add_by_code", "fill_bytes", "fill_starts", "fill_table", "number_keys"]

# Multiplier of a 64-bit multiplicative hash: 2**64 / golden ratio (Knuth, TAOCP 3, section 6.4).
_HASH = np.uint64(0x9E3779B97F4A7C15)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
# 256 make no difference.
_AHEAD = 64


@inlined
def _word(words, start, stop):
    """Return the bytes of a key from `start` on as one word, zeros behind its end."""
    n_bytes = stop - start
    word = words[start]
    return word if n_bytes >= 8 else word & (_ALL >> np.uint64(64 - 8 * n_bytes))


@inlined
def _hash(words, start, stop):
    """Return 32 well mixed bits of a key."""
    mixed = np.uint64(stop - start)
    for at in range(start, stop, 8):
        mixed = (mixed ^ (mixed >> _HALF) ^ _word(words, at, stop)) * _HASH
    mixed = (mixed ^ (mixed >> _HALF)) * _HASH
    return mixed >> _HALF


@inlined
def _is_key(records, place, words, start, stop):
    """Tell whether the record at a place is that of a key."""
    if records[place] & _LOW != np.uint64(stop - start):
        return False
    for at in range(start, stop, 8):
        place += 1
        if records[place] != _word(words, at, stop):
            return False
    return True


@kernel
def number_keys(starts, words, table, shift, n_keys, end, records, codes):
    """Number keys in order of first appearance, after those of earlier calls.

    starts : shape (n + 1,), int64: key i has the bytes from starts[i] to starts[i + 1] - 1
    words : uint64: word i has the 8 bytes from byte i on, the first in its lowest bits
    table : shape (2**(32 - shift),), uint64, 0 where empty; more entries than keys
    n_keys : distinct keys so far
    end : where the next record goes, 1 for the first
    records : uint64, with room for the new ones
    codes : shape (n,), int64, overwritten: the number of each key

    Returns the new `n_keys` and `end`.
    """
    mask = np.int64(table.size - 1)
    down = np.uint64(shift)
    hashes = np.empty(_AHEAD, np.uint64)
    ahead = np.empty(_AHEAD, np.uint64)
    for first in range(0, codes.size, _AHEAD):
        last = min(first + _AHEAD, codes.size)
        for i in range(first, last):
            hashes[i - first] = _hash(words, starts[i], starts[i + 1])
        for i in range(last - first):
            ahead[i] = table[np.int64(hashes[i] >> down)]
        for i in range(last - first):
            found = np.int64(ahead[i] >> _HALF == hashes[i])
            ahead[i] = records[found * np.int64(ahead[i] & _LOW)]  # only to have it in the cache
        for i in range(first, last):
            start, stop = starts[i], starts[i + 1]
            mixed = hashes[i - first]
            slot = np.int64(mixed >> down)
            while True:
                entry = table[slot]
                if entry == 0:
                    table[slot] = mixed << _HALF | np.uint64(end)
                    records[end] = np.uint64(n_keys) << _HALF | np.uint64(stop - start)
                    end += 1
                    for at in range(start, stop, 8):
                        records[end] = _word(words, at, stop)
                        end += 1
                    codes[i] = n_keys
                    n_keys += 1
                    break
                if entry >> _HALF == mixed:
                    place = np.int64(entry & _LOW)
                    if _is_key(records, place, words, start, stop):
                        codes[i] = np.int64(records[place] >> _HALF)
                        break
                slot = (slot + 1) & mask
    return n_keys, end


@kernel
def fill_table(entries, shift, table):
    """Copy the entries of one table into a larger one.

    entries : uint64, 0 where empty
    table : shape (2**(32 - shift),), uint64, all 0
    """
    mask = np.int64(table.size - 1)
    for i in range(entries.size):
        if entries[i] != 0:
            slot = np.int64(entries[i] >> _HALF >> np.uint64(shift))
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = entries[i]


@kernel
def fill_starts(records, starts):
    """Find where keys start that lie side by side.

    records : uint64, of all keys
    starts : shape (n_keys + 1,), int64, the first 0
    """
    place = np.int64(1)
    for key in range(starts.size - 1):
        length = np.int64(records[place] & _LOW)
        starts[key + 1] = starts[key] + length
        place += 1 + (length + 7) // 8


@kernel
def fill_bytes(records, starts, data):
    """Copy the bytes of keys side by side.

    records : shape (8 times words,), uint8, of all keys
    starts : shape (n_keys + 1,), int64
    data : shape (starts[-1],), uint8, overwritten
    """
    place = 8
    for key in range(starts.size - 1):
        place += 8
        for at in range(starts[key], starts[key + 1]):
            data[at] = records[place + at - starts[key]]
        place += (starts[key + 1] - starts[key] + 7) // 8 * 8


@kernel
def add_by_code(codes, values, sums):
    """Add values to the sums of their codes, in order, as NumPy's bincount does.

    A sum is stored before another is loaded, so that no addition can be moved.

    codes : shape (n,), int64
    values : shape (n,), float64
    sums : shape (n_codes or more,), float64, added to
    """
    for i in range(codes.size):
        sums[codes[i]] += values[i]
