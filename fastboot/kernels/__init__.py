"""Kernels: numbers in, numbers out.

The contract of a kernel:

- sequential, ``nogil``, no Python objects, no allocation per unit; scratch memory is O(1 MB);
- it takes a slice of the units (``terms``, ``start``, ``n_units``; at most one superblock) and a
  range of replicates (``first`` and the length of the last axis of the output) and *adds* into
  that range, so that slices can be visited in any batches but always in the same order; an empty
  range compiles the kernel and costs nothing;
- ``terms`` is float64, C-contiguous, shape (n_terms, all units), read-only, finite or NaN;
- every random word is a pure function of (key, purpose, replicate, block, position); the layout is
  in :mod:`fastboot.kernels.philox`, and :mod:`fastboot.reference` follows it on its own.

Importing a kernel imports Numba, which takes longer than all else: procedures import them when
they run.
"""
