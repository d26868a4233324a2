"""Benchmarks, run by asv with this folder's asv.conf.json; each file's first lines say what it has.

Figures are CPU time where one thread works, so that a busy machine changes them little.
"""
