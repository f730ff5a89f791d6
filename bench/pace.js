/** How often something can be done in a second. */
import { setImmediate } from 'node:timers/promises'

/** Long enough that reading the clock costs nothing, short enough to end on time. */
const BLOCK = 500

/** One caller that waits for each answer. `ask` is handed a number that grows by one. */
export const paceOfOne = (millis, ask) =>
  pace(millis, async (first) => {
    for (let n = first; n < first + BLOCK; n++) await ask(n)
    // Timers and sockets have their turn too, as they would in a server.
    await setImmediate()
    return BLOCK
  })

/** The same without waiting: for what answers at once. */
export const paceAtOnce = (millis, ask) =>
  pace(millis, (first) => {
    for (let n = first; n < first + BLOCK; n++) ask(n)
    return BLOCK
  })

/** Many callers at once, each of whom asks again as soon as it is answered. */
export const paceOfMany = async (millis, callers, ask) => {
  const start = performance.now()
  const end = start + millis
  let asked = 0
  const caller = async () => {
    while (performance.now() < end) await ask(asked++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (asked / (performance.now() - start)) * 1_000
}

const pace = async (millis, block) => {
  const start = performance.now()
  let asked = 0
  let elapsed = 0
  while (elapsed < millis) {
    asked += await block(asked)
    elapsed = performance.now() - start
  }
  return (asked / elapsed) * 1_000
}
