/** How a server starts with a million rates. */
import { join } from 'node:path'
import { inChild } from '../in-child.js'
import { driverVersion } from '../provide.js'
import { scratchFolder } from '../scratch-folder.js'

const url = new URL('../contenders/subjects.js', import.meta.url)

const RATES = 1_000_000

const folder = scratchFolder()
process.once('exit', folder.remove)
const options = { path: join(folder.path, 'bench.db'), rates: RATES }

export const peers = () => driverVersion()

export const prepare = async (say) => {
  say(`writing ${RATES.toLocaleString('en')} rates`)
  const { fill } = await import(url.href)
  await fill(options.path, RATES)
}

const BASE = 'the same rows into a `Map`, in one statement'

export const tables = [
  {
    title: 'A start with a million rates',
    conditions: `A SQLite file with a block on each of a million e-mail addresses, half of which end in a month; one
process each. A round opens the gate and waits until it knows all of them. In place of decisions, the
table counts rates a second of processor time (user and system); the memory is that of the last round,
after garbage collection. What is resident beside the heap shrinks from round to round as it is used again.`,
    command: 'npm run bench -- subjects',
    base: BASE,
    variants: [
      inChild(BASE, { url, contender: 'rows', options }),
      inChild('Headgate', { url, contender: 'headgate', options }),
    ],
  },
]
