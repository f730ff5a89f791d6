/** The one algorithm that runs inside Redis; spends.ts compares what it does with core/gcra.ts, at each use. */
import { CLAIMED, scriptOf } from './scripts.ts'

/**
 * Spends of token buckets, each call all or nothing: `decideGcra` of core/gcra.ts for mode `spend` over
 * the text of `encodeGcra`, without what a changed limit makes of a bucket. Answers no question: it
 * returns what it saw and what it wrote, and TypeScript tells the rest.
 *
 * KEYS  1 the claims; then the keys, each once.
 * ARGV  1 the time in microseconds, or '' for that of the server; 2 how much longer than it must Redis
 *       keeps a key, in microseconds; 3 the number of calls. Then for each call the number of its spends,
 *       and for each of those: which key, cost, burst and interval.
 * Reply the time, as seconds and microseconds; a mark for each call: 1 moved, 0 refused, - left alone; for
 *       each key the value that was there; for each key the value that was written.
 */
export const SPEND = scriptOf(`${CLAIMED}
local clock = redis.call('TIME')
local server = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local now = ARGV[1] == '' and server or tonumber(ARGV[1])
local grace, calls, count = tonumber(ARGV[2]), tonumber(ARGV[3]), #KEYS - 1
local reply = { clock[1], clock[2], '' }
local function kept(key)
  local claim = claimed and redis.call('HGET', KEYS[1], key)
  return claim and tonumber(string.match(claim, '^%d+')) > server
end
-- A bucket that is kept for a server, or of a form that is not known here, is none.
local buckets = {}
for start = 2, #KEYS, 1000 do
  local page = redis.call('MGET', unpack(KEYS, start, math.min(#KEYS, start + 999)))
  for i = 1, #page do
    local at = start + i - 2
    reply[at + 3] = page[i]
    if kept(KEYS[at + 1]) then buckets[at] = nil
    elseif page[i] == false then buckets[at] = {}
    else
      local form = '^(%d+) (%d+) (%-?%d+) (%d+) (%d+)$'
      local seen, used, age, burst, interval = string.match(page[i], form)
      if seen then
        seen = tonumber(seen)
        buckets[at] = {
          seen = seen, tat = seen + tonumber(used), since = seen - tonumber(age),
          burst = tonumber(burst), interval = tonumber(interval)
        }
      end
    end
  end
end
-- The bucket's own time, how much of it is used, and its filling; nothing if a changed limit must translate it.
local function open(bucket, burst, interval)
  if not bucket then return end
  if not bucket.seen then return now, 0, now end
  local time = math.max(bucket.seen, now)
  if bucket.tat <= time then
    return time, 0, time > bucket.since and time or bucket.since + 1
  end
  if bucket.burst == burst and bucket.interval == interval then
    return time, bucket.tat - time, bucket.since
  end
end
local marks, a = {}, 3
for call = 1, calls do
  local spends = tonumber(ARGV[a + 1])
  local mark, moves = '1', {}
  for i = 1, spends do
    local at = a + 1 + (i - 1) * 4
    local bucket = buckets[tonumber(ARGV[at + 1])]
    local cost, burst = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    local interval = tonumber(ARGV[at + 4])
    local time, used, since = open(bucket, burst, interval)
    if not time then
      mark = '-'
      break
    end
    used = used + cost * interval
    if used > burst * interval then mark = '0' end
    if cost > 0 then moves[#moves + 1] = { bucket, time, used, since, burst, interval } end
  end
  if mark == '1' then
    for i = 1, #moves do
      local bucket, time, used, since, burst, interval = unpack(moves[i])
      bucket.seen, bucket.tat, bucket.since = time, time + used, since
      bucket.burst, bucket.interval, bucket.moved = burst, interval, true
    end
  end
  marks[call] = mark
  a = a + 1 + spends * 4
end
reply[3] = table.concat(marks)
for i = 1, count do
  local bucket = buckets[i]
  reply[count + i + 3] = false
  if bucket and bucket.moved then
    local value = string.format('%.0f %.0f %.0f %.0f %.0f', bucket.seen, bucket.tat - bucket.seen,
      bucket.seen - bucket.since, bucket.burst, bucket.interval)
    local expires = math.max(bucket.tat, bucket.since + 1)
    local life = math.ceil((math.max(0, expires - now) + grace) / 1000)
    redis.call('SET', KEYS[i + 1], value, 'PX', string.format('%.0f', life))
    reply[count + i + 3] = value
  end
end
return reply
`)
