"""Benchmarks, run by asv with this folder's asv.conf.json; each file's first lines say what it has.

Figures are CPU time where one thread works, so that a busy machine changes them little.
"""

import os

# Before NumPy is imported: the threads of a matrix product spin while they wait, and CPU time
# counts that.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
