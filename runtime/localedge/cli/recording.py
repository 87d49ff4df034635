"""`localedge verify --record-vectors`: the real parts' answers, recorded afresh."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from localedge.cli.progress import progress
from localedge.errors import Exit, OperatorError
from localedge.port.record.recording import KINDS, Recorded, differences, record, stored, text
from localedge.port.verify.parts import fetched_parts


def record_vectors(folder: Path, vectors: Path) -> Exit:
    """`folder` has fresh answers to the programs of `vectors`; what is other now is printed.

    Shape: DONE when the answers are those of `vectors`, FAILED when they differ.
    Errors: OperatorError when the real parts cannot be had, or a file not be read or written.
    """
    before = stored(vectors)
    with progress("Recording the real parts"):
        recorded = asyncio.run(_recorded(before))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind in KINDS:
            (folder / f"{kind}.json").write_text(text(recorded.cases[kind]), "utf-8")
    except OSError as error:
        place = f"{error.filename or folder}: {error.strerror}"
        raise OperatorError(
            "verify/cannot-write", f"{place}.", "Name a folder that can be written."
        ) from error
    lines = list(differences(before, recorded.cases))
    for line in lines:
        typer.echo(line)
    typer.echo(_summary(recorded, folder, sum(not line.startswith(" ") for line in lines)))
    return Exit.FAILED if lines else Exit.DONE


async def _recorded(before: dict[str, dict[str, object]]) -> Recorded:
    return await record(await fetched_parts(), before)


def _summary(recorded: Recorded, folder: Path, changed: int) -> str:
    count = sum(len(cases) for cases in recorded.cases.values())
    parts = ", ".join(f"{name} {version}" for name, version in sorted(recorded.versions.items()))
    said = f"{changed} of them answer otherwise" if changed else "all answer as stored"
    return f"Recorded {count} cases in {folder}: {said} ({parts})."
