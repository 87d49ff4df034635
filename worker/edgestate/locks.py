"""The document's task lock: over leases where there are leases, advisory on KV."""

from __future__ import annotations

from typing import Final, TypeGuard, cast

from edgestate import keys
from edgestate.bindings import KVBinding
from edgestate.errors import Unsupported
from edgestate.keys import check_id
from edgestate.kv_sessions import KVSessions
from edgestate.store import StateStore

LEASE_TTL_S: Final = 30
ADVISORY_TTL_S: Final = 60
"""The shortest that KV takes. Source: reference/kv-d1-contract.md 1.8, read 2026-12-01."""


def _is_store(kv: StateStore | KVBinding) -> TypeGuard[StateStore]:
    return hasattr(kv, "traits")


async def acquire_task_lock(
    kv: StateStore | KVBinding,
    task_id: str,
    holder_id: str,
    ttl_seconds: float | None = None,
    *,
    advisory: bool = False,
) -> bool:
    """Whether `holder_id` has the task for the next `ttl_seconds` (30 on a lease, 60 on KV).

    Shape: `kv` is a store with leases; a bare KV binding (or a store on one) is taken with
    `advisory=True` only, because two holders that come at once can both get `True` from it.
    Errors: Unsupported without `advisory`; TaskNotFound; the platform's 400 for a TTL under 60
    on KV.
    """
    if _is_store(kv) and kv.traits.leases:
        ttl_s = LEASE_TTL_S if ttl_seconds is None else ttl_seconds
        return await kv.acquire_lease(task_id, holder_id, ttl_s=ttl_s) is not None
    binding = _advisory_binding(kv, advisory=advisory)
    key = keys.lock(task_id)
    check_id("holder", holder_id)
    if (await _holder(binding, key)) not in (None, holder_id):
        return False
    ttl = ADVISORY_TTL_S if ttl_seconds is None else ttl_seconds
    await binding.put(key, holder_id, expirationTtl=ttl, metadata={"holder": holder_id})
    return await _holder(binding, key) == holder_id


async def release_task_lock(
    kv: StateStore | KVBinding, task_id: str, holder_id: str, *, advisory: bool = False
) -> None:
    """The task is free if it was `holder_id`'s; another holder's lock stays.

    Errors: Unsupported as for `acquire_task_lock`.
    """
    if _is_store(kv) and kv.traits.leases:
        await kv.release_lease(task_id, holder_id)
        return
    binding = _advisory_binding(kv, advisory=advisory)
    key = keys.lock(task_id)
    if await _holder(binding, key) == holder_id:
        await binding.delete(key)


def _advisory_binding(kv: StateStore | KVBinding, *, advisory: bool) -> KVBinding:
    if not advisory:
        why = (
            "KV has no put-if-absent and shows a write elsewhere up to 60 s late, so it excludes "
            "nobody.  Pass a D1StateStore, or advisory=True if a hint is enough."
        )
        raise Unsupported("KV", "lock", why)
    # A store on KV shows its binding as `kv`; a binding stands for itself.
    # A store on KV shows its binding as `kv`; a binding stands for itself.
    return cast("KVBinding", kv.kv if isinstance(kv, KVSessions) else kv)


async def _holder(binding: KVBinding, key: str) -> str | None:
    current = await binding.getWithMetadata(key)
    metadata = current["metadata"]
    return metadata.get("holder") if isinstance(metadata, dict) else None
