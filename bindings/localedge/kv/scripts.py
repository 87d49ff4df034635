"""The Lua that makes writes atomic, lists bounded, and reads of a location cached.

Redis layout of a namespace N (percent-encoded), all in one hash slot:
- `kv:{N}:h:<key>`  hash: v value, m metadata (JSON or ""), e expiration (seconds or "")
- `kv:{N}:z`        sorted set of all keys, score 0, hence in bytewise order
- `kv:{N}:w:<key>`  when the key was last written (ms), kept while write rates are counted
- `kv:{N}:c:<location>:<key>`  what a location has read: t when (ms), c for how long (s), v, m, e
- `kv:{N}:l:<location>`        hash: the pages that a location has listed, and g, which changes
                                when it writes

Time always comes as an argument: the server's clock is not ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha1
from typing import Final


@dataclass(frozen=True, slots=True)
class Script:
    """A script's source and the name that EVALSHA knows it by."""

    source: bytes
    digest: bytes


def _script(source: str) -> Script:
    text = source.strip().encode()
    return Script(text, sha1(text, usedforsecurity=False).hexdigest().encode())


_RATE: Final = """
local function too_soon(key, mode, now)
  local last = tonumber(redis.call('GET', key) or nil)
  local soon = last and now >= last and now - last < 1000
  if not (soon and mode == 'enforce') then
    redis.call('SET', key, string.format('%.0f', now), 'PX', 600000)
  end
  return soon
end
"""

PUT: Final = _script(
    _RATE
    + """
-- KEYS: hash, index, rate, caches to forget…
-- ARGV: member, value, metadata, expiration, life in Redis (ms or ''), rate mode, now (ms)
local soon = ARGV[6] ~= 'off' and too_soon(KEYS[3], ARGV[6], tonumber(ARGV[7]))
if soon and ARGV[6] == 'enforce' then return 1 end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'v', ARGV[2], 'm', ARGV[3], 'e', ARGV[4])
if ARGV[5] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
for i = 4, #KEYS do redis.call('DEL', KEYS[i]) end
return soon and 1 or 0
"""
)

# Differs: whether the platform counts a delete as a write to the key is not documented.
DELETE: Final = _script(
    _RATE
    + """
-- KEYS: hash, index, rate, caches to forget…
-- ARGV: member, rate mode, now (ms)
local soon = ARGV[2] ~= 'off' and too_soon(KEYS[3], ARGV[2], tonumber(ARGV[3]))
if soon and ARGV[2] == 'enforce' then return 1 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1])
for i = 4, #KEYS do redis.call('DEL', KEYS[i]) end
return soon and 1 or 0
"""
)

LIST: Final = _script(
    """
-- KEYS: index
-- ARGV: prefix of hashes, first member, last member, members to look at, keys wanted, now (s)
-- Returns name, metadata, expiration of each key found; the last member seen; 1 if more follow.
local scan, want, now = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local members = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, scan)
local found, gone, seen = {}, {}, 0
for _, member in ipairs(members) do
  if #found == 3 * want then break end
  seen = seen + 1
  local hash = ARGV[1] .. member
  local fields = redis.pcall('HMGET', hash, 'e', 'm')
  local expiration, metadata = fields[1], fields[2]
  if fields.err then
    expiration, metadata = 'corrupt', ''
  elseif not expiration and redis.call('EXISTS', hash) == 0 then
    expiration = nil
  elseif not (expiration and metadata) then
    expiration, metadata = 'corrupt', ''
  elseif expiration ~= '' and (tonumber(expiration) or now + 1) <= now then
    redis.call('DEL', hash)
    expiration = nil
  end
  if expiration then
    found[#found + 1] = member
    found[#found + 1] = metadata
    found[#found + 1] = expiration
  else
    gone[#gone + 1] = member
  end
end
for _, member in ipairs(gone) do redis.call('ZREM', KEYS[1], member) end
local more = (seen < #members or #members == scan) and 1 or 0
return {found, members[seen] or '', more}
"""
)

GET_MANY: Final = _script(
    """
-- KEYS: hashes; ARGV: most bytes to return. Returns fields of each, or one number: too large.
local total = 0
for _, hash in ipairs(KEYS) do total = total + redis.call('HSTRLEN', hash, 'v') end
if total > tonumber(ARGV[1]) then return total end
local all = {}
for i, hash in ipairs(KEYS) do all[i] = redis.call('HMGET', hash, 'v', 'm', 'e') end
return all
"""
)

READ_AT: Final = _script(
    """
-- KEYS: hash, cache of the location; ARGV: now (ms), how old the answer may be (s), kept for (ms)
-- Returns HIT or MISS, then v, m, e.
local now, ttl = tonumber(ARGV[1]), tonumber(ARGV[2])
local cached = redis.call('HMGET', KEYS[2], 't', 'c', 'v', 'm', 'e')
if cached[1] then
  local age, life = now - tonumber(cached[1]), tonumber(cached[2])
  if age >= 0 and age < math.min(life, ttl) * 1000 then
    if ttl < life then redis.call('HSET', KEYS[2], 'c', ARGV[2]) end
    return {'HIT', cached[3], cached[4], cached[5]}
  end
end
local fields = redis.call('HMGET', KEYS[1], 'v', 'm', 'e')
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 't', ARGV[1], 'c', ARGV[2])
if fields[1] and fields[2] and fields[3] then
  redis.call('HSET', KEYS[2], 'v', fields[1], 'm', fields[2], 'e', fields[3])
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {'MISS', fields[1], fields[2], fields[3]}
"""
)

LISTED_AT: Final = _script(
    """
-- KEYS: pages of the location; ARGV: page, new generation, kept for (ms)
-- Returns the page if there is one, and the generation.
redis.call('HSETNX', KEYS[1], 'g', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('HMGET', KEYS[1], ARGV[1], 'g')
"""
)

KEEP_PAGE: Final = _script(
    """
-- KEYS: pages of the location; ARGV: page, its content, generation in which it was read
if redis.call('HGET', KEYS[1], 'g') == ARGV[3] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return 1
"""
)
