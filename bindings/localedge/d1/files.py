"""Which file a database lies in."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

# What would name another folder, end the name, or look as if it were encoded.
_UNSAFE: Final = re.compile(r"[/\\%\0]")
_LONGEST_BYTES: Final = 200


def database_file(state: Path, storage_id: str) -> Path:
    """The file of the database that is stored as `storage_id`, under the state folder `state`.

    Shape: `d1/<storage_id>.sqlite`; odd characters are percent-encoded and a name that is too long
    is replaced by its digest, because an id may be any text.
    """
    name = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", storage_id)
    encoded = name.encode("utf-8", "surrogatepass")
    if len(encoded) > _LONGEST_BYTES:
        name = hashlib.sha256(encoded).hexdigest()
    return state / "d1" / f"{name}.sqlite"
