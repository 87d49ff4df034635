"""The parts of Pyodide that worker code uses, over native CPython."""

__version__ = "314.0.7"
