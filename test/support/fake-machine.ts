import { seconds, span } from '../../src/core/time.ts'
import { fakeClock } from '../../src/testing/index.ts'

/** A machine whose clock a test may set apart from the time that passes. */
export const fakeMachine = () => {
  const clock = fakeClock()
  let boot = 'boot-1'
  let up = seconds(5_000)
  return {
    clock,
    read: () => ({ boot, uptime: up }),
    /** Awake or asleep. */
    pass: (length: number) => {
      clock.advance(seconds(length))
      up = span(up + seconds(length))
    },
    /** The clock alone. */
    leap: (length: number) => clock.advance(seconds(length)),
    reboot: (name: string) => {
      boot = name
      up = seconds(20)
    },
  }
}
