"""`make demo-team`; LOCALEDGE_DEMO_SEED chooses what is killed when."""

from __future__ import annotations

import os
import sys
import time
from functools import partial

from tests.demo.telling import Story, show


def _story() -> Story:
    from tests.demo_team.story import CLAIMS, tell

    seed = int(os.environ.get("LOCALEDGE_DEMO_SEED", time.time_ns() % 100_000))
    return Story("team", CLAIMS, limit_s=240, tell=partial(tell, seed=seed))


if __name__ == "__main__":
    sys.exit(show(_story))
