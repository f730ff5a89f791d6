// Compiles src/, and what opens doors with optional peers, beside dist/ and then puts it in its place: a process that runs dist/ meanwhile sees
// the old build or the new one, a deleted module cannot linger, and a failed build changes nothing.
//
//   node scripts/build.js [--if-stale]
//
// With --if-stale only if something changed since the last build.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeOpeners } from './doors.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const changedAt = (path) => statSync(`${root}${path}`).mtimeMs

/** Folders count too: one changes when a file in it is deleted. */
const inputs = () => [
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.js',
  'scripts/doors.js',
  'package.json',
  'src',
  ...readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).map((name) => `src/${name}`),
]

const isStale = () =>
  !existsSync(`${root}dist`) || Math.max(...inputs().map(changedAt)) > changedAt('dist')

/** Strict programs compile against our own types in place of ucanto's: see src/subjects/ucan/ucanto.ts. */
const ownTypes = (folder) => {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.d.ts'))) {
    const text = readFileSync(`${folder}/${name}`, 'utf8')
    writeFileSync(
      `${folder}/${name}`,
      text.replaceAll("from '@ucanto/interface'", "from './ucanto.js'"),
    )
  }
}

const build = async () => {
  const started = new Date()
  const next = mkdtempSync(`${root}dist-`)
  try {
    const compiler = `${root}node_modules/typescript/bin/tsc`
    execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', next], {
      cwd: root,
      stdio: 'inherit',
    })
    ownTypes(`${next}/subjects/ucan`)
    await writeOpeners(JSON.parse(readFileSync(`${root}package.json`, 'utf8')), next)
    for (const command of ['bin/headgate.js', 'cli/main.js']) chmodSync(`${next}/${command}`, 0o755)
    chmodSync(next, 0o755)
    // What changes while it is being compiled is newer than the build.
    utimesSync(next, started, started)
    const old = `${next}-old`
    if (existsSync(`${root}dist`)) renameSync(`${root}dist`, old)
    renameSync(next, `${root}dist`)
    rmSync(old, { recursive: true, force: true })
  } finally {
    rmSync(next, { recursive: true, force: true })
  }
}

if (!process.argv.includes('--if-stale')) await build()
else if (isStale()) {
  console.log('headgate: building dist/ from src/')
  await build()
}
