/** What a test needs to drive something that looks every few seconds and logs. */
import type { Timers } from '../../src/lib/poller.ts'

/** When all that was due at once is done. */
export const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Timers that go off when a test says so. */
export const handTimers = () => {
  let due = () => {}
  const delays: number[] = []
  const timers: Timers = {
    after: (delay, run) => {
      delays.push(delay)
      due = run
      return () => {}
    },
  }
  const goOff = async () => {
    due()
    await settled()
  }
  return { timers, delays, goOff }
}

/** A log that keeps its lines. */
export const noted = () => {
  const lines: [level: string, code: unknown, message: string][] = []
  const at = (level: string) => (facts: object, message: string) =>
    void lines.push([level, 'code' in facts ? facts.code : undefined, message])
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } }
}
