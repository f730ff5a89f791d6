// Follows the rates in a shared SQLite file, and prints how it judges a subject whenever that changes.
import { setTimeout } from 'node:timers/promises'
import { systemClock, uptime } from '../../../dist/stores/clock.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'
import { createSubjectGate } from '../../../dist/subjects/index.js'

const [, , path, provider, subject] = process.argv
const store = sqliteStore({ path })
const gate = createSubjectGate({ store, provider, clock: systemClock, uptime })
await gate.catchUp()

/** Whoever started this has given up long before. */
const PATIENCE_MS = 30_000

let last
for (let waited = 0; waited < PATIENCE_MS; waited += 10) {
  const { state } = gate.judge([subject])
  if (state !== last) console.log(state)
  last = state
  await setTimeout(10)
}
