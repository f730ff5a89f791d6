// Commits N times to a SQLite file, one after the other, and prints each answer when it comes.
import { writeSync } from 'node:fs'
import { sqlite } from '../../../dist/stores/sqlite/index.js'

const [, , path, commits] = process.argv
const store = sqlite({ path })
// At once and not by a stream: a trace of the process must show it where it happened.
const say = (line) => writeSync(1, `${line}\n`)
say('open')
for (let i = 0; i < Number(commits); i++) {
  await store.transact(() => ({
    writes: [{ key: `key:${i}`, value: 'x' }],
    appends: [],
    result: undefined,
  }))
  say(`answered ${i}`)
}
await store.close()
