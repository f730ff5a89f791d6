/**
 * Whether a clock can be trusted, judged by a witness that nobody sets: the time less the machine's
 * uptime, which counts sleep, stays the same for as long as the machine runs. What is recorded of it,
 * for each boot, and the judgement over it.
 *
 * Not detected: a clock that was wrong when its boot was first recorded, where nothing confirms it.
 */
import { assert } from './errors.ts'
import type { Value } from './store.ts'
import { between, type Instant, instant, minutes, type Span, seconds, span } from './time.ts'

/** What a machine knows apart from its clock. */
export interface MachineReading {
  /** Another one after each reboot; a word. */
  readonly boot: string
  /** Since then, sleep included. */
  readonly uptime: Span
}

/** Of the boot that is named, by whatever counts the seconds since then. */
export const machineOf = (boot: string, upSeconds: () => number) => (): MachineReading => ({
  boot,
  uptime: seconds(upSeconds()),
})

/**
 * The recorded offset follows small corrections by at most one part in so many of the time that
 * passed: 500 ppm, as much as NTP ever corrects. Whoever sets the clock, and however often, moves it
 * no faster than that.
 */
export const CLOCK_WALK = 2_000

/** A record is written anew when it is this old. */
const RECORD_EVERY: Span = minutes(1)

/** More machines than share one store; the one that was seen least lately is forgotten. */
const MAX_BOOTS = 16

interface BootRecord {
  readonly boot: string
  /** The store's time less the uptime. */
  readonly offset: Span
  /** When it was recorded. */
  readonly uptime: Span
}

export interface ClockRecord {
  /** The latest time that was recorded. */
  readonly newest: Instant
  /** The last is the one seen last. None: somebody looked, and nothing confirmed the clock yet. */
  readonly boots: readonly BootRecord[]
}

/** Somebody looked, and nothing confirmed the clock yet. */
export const NOTHING_YET: ClockRecord = { newest: instant(0), boots: [] }

export type UntrustedClock = Exclude<ClockVerdict, { trusted: true }>

export type ClockVerdict =
  | {
      readonly trusted: true
      /** How far ahead of the record, or behind it where negative. */
      readonly offBy: Span
      /** `record`: of this boot. Else the boot was new: sources agreed, none was given, or the store was new too. */
      readonly basis: 'record' | 'sources' | 'nothing' | 'first'
    }
  | { readonly trusted: false; readonly reason: 'leapt' | 'behind'; readonly offBy: Span }
  /** A new boot, and time sources that did not confirm its clock yet. */
  | { readonly trusted: false; readonly reason: 'unconfirmed' }

/** One moment, as the clock and the machine tell it. */
export interface ClockMoment {
  readonly now: Instant
  readonly reading: MachineReading
  /** Off by more is no longer a small correction. */
  readonly maxOff: Span
}

export const judgeClock = (
  record: ClockRecord | undefined,
  { now, reading, maxOff }: ClockMoment,
): ClockVerdict => {
  const known = record?.boots.find(({ boot }) => boot === reading.boot)
  const offBy = span(offsetOf(now, reading) - (known?.offset ?? offsetOf(now, reading)))
  if (Math.abs(offBy) > maxOff) return { trusted: false, reason: 'leapt', offBy }
  if (record !== undefined && now < record.newest) {
    return { trusted: false, reason: 'behind', offBy: between(record.newest, now) }
  }
  if (known === undefined) return { trusted: false, reason: 'unconfirmed' }
  return { trusted: true, offBy, basis: 'record' }
}

/** How long until it is worth asking again: exact where the clock only has to catch up. */
export const retryAfterClock = (verdict: UntrustedClock): Span =>
  verdict.reason === 'behind' ? span(-verdict.offBy) : RECORD_EVERY

/** What is wrong, in words. */
export const describeClock = (verdict: UntrustedClock | undefined): string => {
  if (verdict === undefined) return 'the clock could not be looked at yet'
  if (verdict.reason === 'unconfirmed') {
    return 'the clock after a reboot is not confirmed by more than half of the time sources'
  }
  const { reason, offBy } = verdict
  const length = `${Math.ceil(Math.abs(offBy) / 1_000_000)} s`
  if (reason === 'behind') return `the clock is ${length} behind the newest record`
  return `the clock was set ${offBy < 0 ? 'back' : 'ahead'} by ${length} since it was recorded`
}

/** On what a new boot's offset is believed; undefined: not yet. */
export type ConfirmClock = (offset: Span) => 'sources' | 'nothing' | undefined

export interface ClockLook {
  readonly verdict: ClockVerdict
  /** What to record; absent: the record stays as it is. */
  readonly next?: ClockRecord
}

/** Judges, lets the record follow the clock, and takes in a new boot that is confirmed. */
export const lookAtClock = (
  record: ClockRecord | undefined,
  moment: ClockMoment,
  confirm: ConfirmClock,
): ClockLook => {
  const { now, reading } = moment
  const verdict = judgeClock(record, moment)
  if (verdict.trusted) {
    const next = record && followedClock(record, moment)
    return next === undefined ? { verdict } : { verdict, next }
  }
  if (verdict.reason !== 'unconfirmed') return { verdict }
  const offset = offsetOf(now, reading)
  const confirmed = confirm(offset)
  if (confirmed === undefined) {
    // Begun all the same: what a store is used for is known from the first look on.
    return record === undefined ? { verdict, next: NOTHING_YET } : { verdict }
  }
  const boots = record?.boots ?? []
  const basis = confirmed === 'nothing' && boots.length === 0 ? 'first' : confirmed
  const next = withBoot(boots, { ...reading, offset }, now)
  return { verdict: { trusted: true, offBy: span(0), basis }, next }
}

/** A correction that somebody vouched for. Other boots are forgotten: they are off by the same, if they still run. */
export const acceptedClock = ({ now, reading }: ClockMoment): ClockRecord =>
  withBoot([], { ...reading, offset: offsetOf(now, reading) }, now)

/** More than half of all sources must agree: silence confirms nothing. */
export const confirmedBy =
  (offsets: readonly Span[], sources: number, maxOff: Span): ConfirmClock =>
  (offset) => {
    const agree = offsets.filter((other) => Math.abs(other - offset) <= maxOff)
    return agree.length * 2 > sources ? 'sources' : undefined
  }

const offsetOf = (now: Instant, { uptime }: MachineReading): Span => span(now - uptime)

/** Undefined while the record is young: who is busy writes no more often than who is idle. */
function followedClock(
  { boots }: ClockRecord,
  { now, reading }: ClockMoment,
): ClockRecord | undefined {
  const known = boots.find(({ boot }) => boot === reading.boot)
  assert(known !== undefined, 'a clock is trusted by the record of its boot')
  const passed = reading.uptime - known.uptime
  if (passed < RECORD_EVERY) return undefined
  const reach = Math.floor(passed / CLOCK_WALK)
  const offBy = offsetOf(now, reading) - known.offset
  const offset = span(known.offset + Math.max(-reach, Math.min(reach, offBy)))
  return withBoot(boots, { ...reading, offset }, now)
}

/** `now` is not behind the newest record: that was judged before. */
function withBoot(boots: readonly BootRecord[], newest: BootRecord, now: Instant): ClockRecord {
  const others = boots.filter(({ boot }) => boot !== newest.boot)
  return { newest: now, boots: [...others, newest].slice(-MAX_BOOTS) }
}

/** The newest time, then each boot, line by line. */
export const encodeClock = ({ newest, boots }: ClockRecord): Value => {
  for (const { boot } of boots) assert(/^\S+$/.test(boot), () => `a boot's id: ${boot}`)
  return [newest, ...boots.map(({ boot, offset, uptime }) => `${boot} ${offset} ${uptime}`)].join(
    '\n',
  )
}

export const decodeClock = (value: Value): ClockRecord => {
  const [newest = '', ...lines] = value.split('\n')
  const boots = lines.map((line) => {
    const [boot = '', offset = '', uptime = ''] = line.split(' ')
    return { boot, offset: span(Number(offset)), uptime: span(Number(uptime)) }
  })
  return { newest: instant(Number(newest)), boots }
}
