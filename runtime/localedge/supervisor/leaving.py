"""One isolate is taken out of service, while the others of its generation go on."""

from __future__ import annotations

from localedge.supervisor.generation import Generation
from localedge.supervisor.isolates import Isolate


def leave(generation: Generation, isolate: Isolate) -> None:
    """`isolate` gets no more events, and ends with its last one; another takes its place."""
    for place in (generation.serving, generation.standby):
        if isolate in place:
            place.remove(isolate)
    generation.busy.discard(isolate)
    for location, one in [*generation.located.items()]:
        if one is isolate:
            del generation.located[location]
    generation.leaving.add(isolate)
    while generation.standby and len(generation.serving) < generation.size:
        generation.serving.append(generation.standby.pop())
    isolate.on_idle = generation.stop
    if not isolate.exchanges:
        generation.stop(isolate)
    generation.fill()
