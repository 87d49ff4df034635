"""`hyperdrive`: where the local database is.

Source: developers.cloudflare.com/hyperdrive/configuration/local-development, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NoReturn

from localedge.errors import JsException
from localedge.project.attached import Hyperdrive
from localedge.values import JsObject


class HyperdriveBinding(JsObject):
    """`env.DRIVE`: the parts of its connection string, for a driver.

    Shape: `host` and `connectionString` are the database's own.
    """

    # Differs: the platform names a host of its own, which only its sockets reach.
    js_class = "Hyperdrive"
    js_methods: ClassVar[Mapping[str, str]] = {"connect": "connect"}
    js_properties: ClassVar[Mapping[str, str]] = {
        "connectionString": "connection",
        "database": "database",
        "host": "host",
        "password": "password",
        "port": "port",
        "user": "user",
    }

    def __init__(self, settings: Hyperdrive) -> None:
        self.connection = settings.connection
        self.database = settings.database
        self.host = settings.host
        self.password = settings.password
        self.port = settings.port
        self.user = settings.user

    def connect(self) -> NoReturn:
        """Refuses. Errors: JsException."""
        raise JsException(
            "connect() of a Hyperdrive exists on the platform, not in localedge: give host, port, "
            "user, password and database to a driver."
        )
