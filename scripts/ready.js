// Makes a checkout ready to run: the right Node, its packages, a fresh dist/. Says what it does.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installLocked } from './install.js'

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

installLocked(root, () => say('installing packages as locked (some seconds, nothing is compiled)'))
execFileSync(process.execPath, [`${root}scripts/build.js`, '--if-stale'], { stdio: 'inherit' })
