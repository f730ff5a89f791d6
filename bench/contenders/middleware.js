/** Apps of a few lines, each a process of its own, and what a limiter adds to one when it is installed. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../daemon.js'
import { scratchFolder } from '../scratch-folder.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BENCH = fileURLToPath(new URL('..', import.meta.url))

const fileOf = (app) => join(BENCH, 'apps', `${app}.js`)

export const startApp = (app) =>
  startServer(process.execPath, ({ port }) => [fileOf(app), String(port)])

/** As an app would find it that has it installed. */
export const linkHeadgate = () => {
  const link = join(BENCH, 'node_modules/headgate')
  if (!existsSync(link)) symlinkSync(ROOT, link, 'junction')
}

/** Lines with something on them: what is measured is what is counted. */
export const linesOf = (app) =>
  readFileSync(fileOf(app), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length

/** What `npm pack` makes of the sources here; the caller removes the folder. */
export const packHeadgate = (folder) => {
  const packed = npm(ROOT, ['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
  return join(folder, JSON.parse(packed)[0].filename)
}

/** Bytes and packages that an app gains which has its framework already. */
export const installedBy = (framework, limiter) => {
  const before = installed([framework])
  const after = installed([framework, limiter])
  return { bytes: after.bytes - before.bytes, packages: after.packages - before.packages }
}

const installed = (packages) => {
  const folder = scratchFolder()
  try {
    writeFileSync(join(folder.path, 'package.json'), '{ "private": true }')
    npm(folder.path, ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages])
    const { packages: locked } = JSON.parse(
      readFileSync(join(folder.path, 'node_modules/.package-lock.json'), 'utf8'),
    )
    const bytes = bytesIn(join(folder.path, 'node_modules'))
    return { bytes, packages: Object.keys(locked).length }
  } finally {
    folder.remove()
  }
}

const npm = (cwd, args) =>
  execFileSync('npm', [...args, '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  })

const bytesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => lstatSync(join(folder, name)))
    .filter((entry) => entry.isFile())
    .reduce((sum, { size }) => sum + size, 0)
