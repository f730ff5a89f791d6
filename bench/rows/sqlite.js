/** What sharing an fsync is worth: Headgate's SQLite store beside one fsync a decision. */
import { inChild } from '../in-child.js'
import { driverVersion } from '../provide.js'
import { scratchFilesystem } from '../scratch-folder.js'

const url = new URL('../contenders/sqlite.js', import.meta.url)

const ALONE = 'Headgate, 1 caller: an fsync a decision'

export const peers = () => `${driverVersion()} and scratch files on ${scratchFilesystem()}`

export const tables = [
  {
    title: 'SQLite, durable before the answer',
    conditions: `One process each, 10,000 keys, all allowed, WAL with \`synchronous=FULL\`, 1 s a round.
A caller asks again when it is answered. The last variant uses the same driver and engine and a
table of its own: each decision begins, reads, decides, writes and commits for itself.`,
    command: 'npm run bench -- sqlite',
    base: ALONE,
    variants: [
      inChild(ALONE, { url, contender: 'headgate', options: { callers: 1 } }),
      inChild('Headgate, 256 callers', { url, contender: 'headgate', options: { callers: 256 } }),
      inChild('Own commit for each decision, 256 callers', {
        url,
        contender: 'ownCommit',
        options: { callers: 256 },
      }),
    ],
  },
]
