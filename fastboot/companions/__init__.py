"""Tests that stand beside resampling on the same pairs, one procedure a file."""
