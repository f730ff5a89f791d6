// Makes a checkout ready to run: the right Node, its packages, a fresh dist/. Says what it does.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (line) => console.log(`headgate: ${line}`)

const wanted = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace(
  '>=',
  '',
)
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [needMajor = 0, needMinor = 0] = wanted.split('.').map(Number)
if (major < needMajor || (major === needMajor && minor < needMinor)) {
  say(`Node ${wanted} or newer is needed, this is ${process.versions.node}`)
  process.exit(1)
}

const changedAt = (path) => (existsSync(`${root}${path}`) ? statSync(`${root}${path}`).mtimeMs : 0)
const newestIn = (folder) =>
  Math.max(
    ...readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) =>
      changedAt(`${folder}/${name}`),
    ),
  )

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  say('installing packages as locked (some seconds, nothing is compiled)')
  // Not `npm ci`: it insists on the native tools of every platform, which not every registry offers.
  execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

if (changedAt('dist/cli/main.js') < newestIn('src')) {
  say('building dist/ from src/')
  execFileSync(process.execPath, [`${root}scripts/build.js`], { stdio: 'inherit' })
}
