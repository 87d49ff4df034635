"""The same worker on the real parts, and the comparison of what both answer."""
