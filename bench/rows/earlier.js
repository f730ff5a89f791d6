/** Headgate beside an earlier commit of itself: what a change of shape or of promises has cost. */
import { EARLIER, earlierFile } from '../earlier.js'
import { inChild } from '../in-child.js'

const HERE = new URL('../../', import.meta.url)

const BASE = 'the earlier commit'

let say = () => {}

export const prepare = (tell) => {
  say = tell
}

export const peers = () => `Headgate at ${EARLIER === '' ? 'no other commit' : EARLIER}`

/** Each commit is measured by its own contender: both do the same work through their own interface. */
const table = (title, file, options) => {
  const path = `bench/contenders/${file}.js`
  const measured = (url) => ({ url, contender: 'headgate', options, perProcessor: true })
  let earlier
  return {
    title,
    conditions:
      'One process each, as in the section of the same store. A second is one of the processor: other work on the machine does not count.',
    command: 'BENCH_EARLIER=COMMIT npm run bench -- earlier',
    base: BASE,
    variants: [
      {
        name: BASE,
        prepare: () => {
          earlier = inChild(BASE, measured(earlierFile(path, say)))
          return earlier.prepare()
        },
        run: () => earlier.run(),
        dispose: () => earlier?.dispose(),
      },
      inChild('this commit', measured(new URL(path, HERE))),
    ],
  }
}

/** Never reached in a run. */
const PLENTY = 1_000_000

export const tables = [
  table('In memory, 1,000 keys, all allowed', 'memory', {
    keys: 1_000,
    burst: PLENTY,
    allowed: true,
  }),
  table('In memory, 1,000 keys, all refused', 'memory', { keys: 1_000, burst: 1, allowed: false }),
  table('SQLite, one caller', 'sqlite', { callers: 1 }),
  table('SQLite, 256 callers', 'sqlite', { callers: 256 }),
  table('A hold, then its settlement, 10 plans, 256 callers', 'spending', {
    plans: 10,
    callers: 256,
  }),
]
