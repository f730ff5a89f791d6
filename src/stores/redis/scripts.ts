/**
 * What runs inside Redis. Lua compares and copies text; it decides nothing, but for spends of plain token
 * buckets (spend-script.ts), and does no sums but on times, which doubles hold exactly until the year 2255.
 *
 * A script that fails at its first write has changed nothing, and Redis fails none for want of memory,
 * disk or replicas once it has written: so each is all or nothing.
 */
import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  /** By which Redis knows a script that it was given before. */
  readonly digest: string
}

export const scriptOf = (text: string): Script => ({
  text,
  digest: createHash('sha1').update(text).digest('hex'),
})

/**
 * The claims of a partition, which every script that changes it looks at first. Text in their place is a
 * fence: it says why nothing is taken any more. One name serves both, so that no script reads one more.
 */
export const CLAIMED = `
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'string' then return redis.error_reply('FENCED ' .. redis.call('GET', KEYS[1])) end
local claimed = kind == 'hash'
`

/**
 * Compares and applies parts, each alone.
 *
 * KEYS  1 the claims; then for each part in turn: the keys expected, the keys guessed, the keys written,
 *       the indexes of those that are listed, the streams appended to.
 * ARGV  1 when the steps were decided, in microseconds, or '' where no server's time counts; 2 how old
 *       that may be; 3 who asks; 4 how long a claim lasts, in milliseconds; 5 the number of parts. Then
 *       for each part: the counts of expected, guessed, written and appended, and '1' if it claims; the
 *       expected values ('+' and the text, '-' for none); for each write its value alike, its lifetime
 *       in milliseconds or '', and '1' if it is listed; the entries.
 * Reply the time, as seconds and microseconds; then for each part 1, or whether its keys are kept for
 *       another, and the current values of the keys expected and guessed.
 */
export const COMMIT = scriptOf(`${CLAIMED}
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local timely = true
if ARGV[1] ~= '' then
  local age = now - tonumber(ARGV[1])
  timely = age >= 0 and age <= tonumber(ARGV[2])
end
local claims, who = KEYS[1], ARGV[3]
local reply = { time[1], time[2] }
local k, a = 1, 5
local function get(from, count)
  local values = {}
  for start = 1, count, 1000 do
    local stop = math.min(count, start + 999)
    local page = redis.call('MGET', unpack(KEYS, from + start, from + stop))
    for i = 1, #page do values[start + i - 1] = page[i] end
  end
  return values
end
-- Who keeps a key, if it is still kept. A claim of a time before the clock stepped back is none.
local function keeper(key)
  local claim = redis.call('HGET', claims, key)
  if not claim then return nil end
  local stop, name = string.match(claim, '^(%d+) (.*)$')
  local left = tonumber(stop) - now
  if left > 0 and left <= tonumber(ARGV[4]) * 1000 then return name end
end
local function kept_for_another(from, count)
  if not claimed then return false end
  for i = 1, count do
    local name = keeper(KEYS[from + i])
    if name and name ~= who then return true end
  end
  return false
end
for part = 1, tonumber(ARGV[5]) do
  local expected, guessed = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local written, appended = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local claiming = ARGV[a + 5] == '1'
  a = a + 5
  local current = get(k, expected)
  local kept = kept_for_another(k, expected)
  local good = timely and not kept
  for i = 1, expected do
    local wanted, found = ARGV[a + i], current[i]
    if found == false then
      if wanted ~= '-' then good = false end
    elseif wanted ~= '+' .. found then good = false end
  end
  a = a + expected
  local w = k + expected + guessed
  local listed = w + written
  local s = listed
  for i = 1, written do
    if ARGV[a + i * 3] == '1' then s = s + 1 end
  end
  if good then
    for i = 1, written do
      local key, value, life = KEYS[w + i], ARGV[a + i * 3 - 2], ARGV[a + i * 3 - 1]
      local index
      if ARGV[a + i * 3] == '1' then
        listed = listed + 1
        index = KEYS[listed]
      end
      if value == '-' then
        redis.call('DEL', key)
        if index then redis.call('ZREM', index, key) end
      elseif life == '' then
        redis.call('SET', key, string.sub(value, 2))
        if index then redis.call('ZADD', index, 0, key) end
      else
        redis.call('SET', key, string.sub(value, 2), 'PX', life)
        if index then
          redis.call('ZADD', index, 0, key)
          -- Two a write: so those that Redis forgot never outgrow the living by much.
          for _, other in ipairs(redis.call('ZRANDMEMBER', index, 2)) do
            if redis.call('EXISTS', other) == 0 then redis.call('ZREM', index, other) end
          end
        end
      end
    end
    for i = 1, appended do
      redis.call('XADD', KEYS[s + i], '0-*', 'e', ARGV[a + written * 3 + i])
    end
    if claimed then
      for i = 1, expected do
        if keeper(KEYS[k + i]) == who then redis.call('HDEL', claims, KEYS[k + i]) end
      end
    end
    reply[#reply + 1] = 1
  else
    if claiming and not kept then
      local claim = string.format('%.0f %s', now + tonumber(ARGV[4]) * 1000, who)
      for i = 1, expected do redis.call('HSET', claims, KEYS[k + i], claim) end
      redis.call('PEXPIRE', claims, ARGV[4])
      claimed = true
    end
    local also = get(k + expected, guessed)
    local shown = { kept and 1 or 0 }
    for i = 1, expected do shown[i + 1] = current[i] end
    for i = 1, guessed do shown[expected + i + 1] = also[i] end
    reply[#reply + 1] = shown
  end
  a = a + written * 3 + appended
  k = s + appended
end
return reply
`)

/**
 * Values of one moment.
 *
 * KEYS  1 the claims; then the keys. Reply: the time, as seconds and microseconds; then the values.
 */
export const LOOK = scriptOf(`${CLAIMED}
local reply = redis.call('TIME')
for start = 2, #KEYS, 1000 do
  local page = redis.call('MGET', unpack(KEYS, start, math.min(#KEYS, start + 999)))
  for i = 1, #page do reply[#reply + 1] = page[i] end
end
return reply
`)

/**
 * Forgets the beginning of a stream.
 *
 * KEYS  1 the claims; 2 the stream. ARGV: the first position that stays, as an id.
 */
export const TRIM = scriptOf(`${CLAIMED}
return redis.call('XTRIM', KEYS[2], 'MINID', ARGV[1])
`)

/**
 * Puts back entries of a stream that are not there yet.
 *
 * KEYS  the stream. ARGV: its last position; then positions and entries, in turn.
 */
export const RESTORE_ENTRIES = scriptOf(`
local newest = 0
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then newest = tonumber(string.match(info[i + 1], '%d+$')) end
  end
end
for i = 2, #ARGV, 2 do
  if tonumber(ARGV[i]) > newest then
    redis.call('XADD', KEYS[1], '0-' .. ARGV[i], 'e', ARGV[i + 1])
    newest = tonumber(ARGV[i])
  end
end
if newest < tonumber(ARGV[1]) then
  -- Streams without entries keep their last id, once they had one.
  local last = '0-' .. ARGV[1]
  redis.call('XADD', KEYS[1], last, 'e', '')
  redis.call('XDEL', KEYS[1], last)
end
return newest
`)

/**
 * A page of an index. What it lists and Redis has forgotten is passed over, and taken off it.
 *
 * KEYS  the index. ARGV: beyond which name, as ZRANGE takes it; how many names to look at.
 * Reply the names and values that are there, in turn; before them, the last name looked at if there may
 *       be more.
 */
export const RANGE = scriptOf(`
local names = redis.call('ZRANGE', KEYS[1], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
local reply = { #names == tonumber(ARGV[2]) and names[#names] or false }
for i = 1, #names do
  local value = redis.call('GET', names[i])
  if value then
    reply[#reply + 1] = names[i]
    reply[#reply + 1] = value
  else redis.call('ZREM', KEYS[1], names[i]) end
end
return reply
`)
