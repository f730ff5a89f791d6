// Follows the rates in a shared SQLite file, and prints how it judges a subject whenever that changes.
// On a busy machine it may be out of date for a moment; then it does not judge.
import { setTimeout } from 'node:timers/promises'
import { systemClock, uptime } from '../../../dist/lib/clock.js'
import { sqlite } from '../../../dist/stores/sqlite/index.js'
import { createSubjectGate } from '../../../dist/subjects/index.js'

const [, , path, provider, subject] = process.argv
const store = sqlite({ path })
const gate = createSubjectGate({ store, provider, clock: systemClock, uptime })
await gate.catchUp()

let last
for (;;) {
  const { state } = gate.judge([subject])
  if (state !== last && state !== 'stale') {
    console.log(state)
    last = state
  }
  await setTimeout(10)
}
