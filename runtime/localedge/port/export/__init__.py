"""Writes the project that the edge's own tools deploy."""
