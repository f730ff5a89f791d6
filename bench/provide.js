/** Gets what a run needs: the peers from npm, and Debian's packages where that is possible. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const BENCH = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Debian keeps nginx outside the path of ordinary users. */
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }

/** The packages of bench/package.json, by its lock file. */
export const providePackages = (say) => {
  const { dependencies } = JSON.parse(readFileSync(`${BENCH}package.json`, 'utf8'))
  const missing = Object.keys(dependencies).filter((name) => !existsSync(packageFile(name)))
  if (missing.length === 0) return
  say(`installing ${missing.join(', ')} into bench/`)
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: BENCH, stdio: 'inherit' })
}

/** Of the bench's own packages, or of those that Headgate itself depends on. */
export const packageVersion = (name) => {
  const file = [packageFile(name), packageFile(name, ROOT)].find((path) => existsSync(path))
  return JSON.parse(readFileSync(file, 'utf8')).version
}

/** Installs a program from the first of `packages` that Debian has. Answers whether it is there. */
export const provideProgram = (program, packages, say) => {
  if (hasProgram(program)) return true
  if (process.getuid?.() !== 0 || !hasProgram('apt-get')) return false
  for (const name of packages) {
    say(`installing Debian's package ${name}, as ${program} is missing`)
    const install = ['install', '-y', '--no-install-recommends', name]
    if (apt(install) || (apt(['update']) && apt(install))) return hasProgram(program)
  }
  return false
}

/** The first number with dots that a program says when asked for its version. */
export const programVersion = (program, flag) => {
  const { stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8', env: ENV })
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'of unknown version'
}

export const programEnvironment = ENV

const packageFile = (name, folder = BENCH) => `${folder}node_modules/${name}/package.json`

const hasProgram = (program) =>
  ENV.PATH.split(':').some((folder) => existsSync(`${folder}/${program}`))

const apt = (args) => {
  const env = { ...ENV, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('apt-get', ['-q', ...args], { env, stdio: 'ignore' }).status === 0
}
