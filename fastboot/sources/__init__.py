"""Tables in files and streams, read part by part, and replicates in files."""
