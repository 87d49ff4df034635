"""`make demo`."""

from __future__ import annotations

import sys

from tests.demo.telling import Story, show


def _story() -> Story:
    from tests.demo.story import CLAIMS, tell

    return Story("demo", CLAIMS, limit_s=120, tell=tell)


if __name__ == "__main__":
    sys.exit(show(_story))
