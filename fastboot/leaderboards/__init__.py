"""Many systems, many metrics, many data sets: ranks, corrections and what they leave."""
