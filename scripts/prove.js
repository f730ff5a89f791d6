// Runs every test that counts its repetitions (test/support/counts.ts) at its full count, then the
// suites of the pillars over stores of every kind, then the whole suite on the newer versions of Node
// that Headgate supports.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installLocked } from './install.js'
import { OTHER_STORES, PILLARS } from './other-stores.js'
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

for (const [kind, without] of Object.entries(OTHER_STORES)) {
  say(`the suites of the pillars over ${kind}, without ${without.join(', ')}`)
  // Files of some hundred stores for a moment: in memory, where the system has a folder for that.
  const folder = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}
  vitest(process.execPath, PILLARS, { HEADGATE_STORE: kind, ...folder })
}

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
