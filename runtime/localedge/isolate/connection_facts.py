"""`request.cf`: what the platform knows of a client's connection.

Source: developers.cloudflare.com/workers/runtime-apis/request (incoming `cf` properties), read
2026-12-01.
"""

from __future__ import annotations

from typing import Any, Final

# Differs: they are constants that name no real place; the platform fills them for each client.
FACTS: Final[dict[str, Any]] = {
    "asOrganization": "localhost",
    "asn": 64512,
    "city": "Localhost",
    "clientAcceptEncoding": "br, gzip, deflate",
    "clientTcpRtt": 0,
    "colo": "LOC",
    "continent": "EU",
    "country": "XX",
    "edgeRequestKeepAliveStatus": 1,
    "httpProtocol": "HTTP/1.1",
    "latitude": "0.00000",
    "longitude": "0.00000",
    "metroCode": "0",
    "postalCode": "00000",
    "region": "Local",
    "regionCode": "LO",
    "requestPriority": "",
    "timezone": "Etc/UTC",
    "tlsCipher": "AEAD-AES128-GCM-SHA256",
    "tlsVersion": "TLSv1.3",
}
