// Runs every test that counts its repetitions (test/support/counts.ts) at its full count, then the
// suites of the pillars over a store with partitions, then the whole suite on the newer versions of Node
// that Headgate supports.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installLocked } from './install.js'
import { testsIn } from './tests.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (line) => console.log(`headgate: ${line}`)

const more = process.argv.slice(2)
const vitest = (node, words, env = {}) =>
  execFileSync(node, [`${root}node_modules/vitest/vitest.mjs`, 'run', ...words, ...more], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })

const counted = ['src', 'test']
  .flatMap((folder) => testsIn(`${root}${folder}/`))
  .filter((path) => readFileSync(path, 'utf8').includes('support/counts.ts'))
  .map((path) => path.slice(root.length))

say(`proving ${counted.length} files at their full counts`)
vitest(process.execPath, counted, { HEADGATE_PROVE: '1' })

/** What counts keys or round trips, or speaks of one partition; over a cluster each has cases of its own. */
const OF_ONE_PARTITION = [
  'src/requests/limiter/places.test.ts',
  'src/requests/limiter/round-trips.test.ts',
  'src/secrets/signer/clock-record.test.ts',
  'src/secrets/signer/shards.test.ts',
]

say(`the suites of the pillars over a pretended cluster, without ${OF_ONE_PARTITION.join(', ')}`)
vitest(
  process.execPath,
  [
    ...['src/requests', 'src/spending', 'src/subjects', 'src/secrets/signer'],
    ...OF_ONE_PARTITION.flatMap((path) => ['--exclude', path]),
  ],
  { HEADGATE_STORE: 'cluster' },
)

/** What reads sources and pages as text, or does sums for the bench: the same on every Node. */
const INDEPENDENT = ['test/architecture', 'test/docs', 'test/bench']

const folder = `${root}test/node/`
const versions = Object.entries(
  JSON.parse(readFileSync(`${folder}package.json`, 'utf8')).dependencies,
)
if (process.platform === 'linux' && process.arch === 'x64') {
  installLocked(folder, () => say('installing newer versions of Node into test/node'))
  for (const [name, version] of versions) {
    say(`the suite on ${version.replace('npm:', '')}, without ${INDEPENDENT.join(', ')}`)
    const without = INDEPENDENT.flatMap((path) => ['--exclude', path])
    vitest(`${folder}node_modules/${name}/bin/node`, without)
  }
} else {
  say(
    `the suite does not run on ${versions.map(([name]) => name).join(' and ')}: test/node has them for linux-x64, this is ${process.platform}-${process.arch}`,
  )
}
