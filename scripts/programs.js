/** Programs of the system: finds them, and installs Debian's packages where that is possible. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Debian keeps servers outside the path of ordinary users. */
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }

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

export const hasProgram = (program) =>
  ENV.PATH.split(':').some((folder) => existsSync(`${folder}/${program}`))

const apt = (args) => {
  const env = { ...ENV, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('apt-get', ['-q', ...args], { env, stdio: 'ignore' }).status === 0
}
