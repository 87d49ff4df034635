"""The command line: one file per noun, each with a typer `app`."""
