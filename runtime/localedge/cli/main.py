"""The command `localedge`: finds the noun's file, runs it, turns failures into exit codes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Errors: an OperatorError becomes one line on stderr and its own exit code.
    """
    given = sys.argv[1:] if args is None else [*args]
    launched = None
    if given[:1] == ["dev"] and "--help" not in given:
        # The fork server imports what isolates need while we import what we need. Imports leave
        # next to no garbage; looking for it, again and again, is a tenth of their time.
        gc.disable()
        from localedge.supervisor.launch import Launched

        launched = Launched()
    try:
        from localedge.cli import nouns

        raise SystemExit(nouns.run(given, launched))
    finally:
        if launched is not None:
            launched.discard()
