/** Headgate's memory store beside rate-limiter-flexible's, one caller that awaits each answer. */
import { inChild } from '../in-child.js'
import { packageVersion } from '../provide.js'

const url = new URL('../contenders/memory.js', import.meta.url)

/** Never reached in a run, so that every decision is charged and written. */
const PLENTY = 1_000_000

const PEER = 'rate-limiter-flexible'

export const peers = () => `${PEER} ${packageVersion(PEER)}`

const table = (title, conditions, options) => ({
  title,
  conditions,
  command: 'npm run bench -- memory',
  base: PEER,
  variants: [
    inChild(PEER, { url, contender: 'rateLimiterFlexible', options }),
    inChild('Headgate', { url, contender: 'headgate', options }),
    inChild('Headgate, `decideGcra` alone', { url, contender: 'engine', options }),
  ],
})

const SHARED = `One process each, one caller that awaits each answer, a fresh string for each key, every
key asked once beforehand, 1 s a round. \`decideGcra\` alone works over a \`Map\`, with no catalog, no
store and no promise.`

export const tables = [
  table('In memory, 1,000 keys, all allowed', SHARED, {
    keys: 1_000,
    burst: PLENTY,
    allowed: true,
  }),
  table('In memory, 100,000 keys, all allowed', SHARED, {
    keys: 100_000,
    burst: PLENTY,
    allowed: true,
  }),
  table(
    'In memory, 1,000 keys, all refused',
    `${SHARED} The peer refuses by rejecting; the rejection is caught.`,
    { keys: 1_000, burst: 1, allowed: false },
  ),
]
