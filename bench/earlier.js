/** An earlier commit of Headgate, checked out and built beside this one, to be measured in the same rounds. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { LeftOut } from './left-out.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Which commit; without one there is nothing to compare with. */
export const EARLIER = process.env.BENCH_EARLIER ?? ''

/** The URL of a file of that commit. It is built once, in the temporary folder, and used again. */
export const earlierFile = (path, say) => {
  if (EARLIER === '') throw new LeftOut('BENCH_EARLIER names no commit')
  const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: 'utf8' }).trim()
  const commit = run('git', ['rev-parse', '--verify', `${EARLIER}^{commit}`], ROOT)
  const folder = join(tmpdir(), `headgate-${commit.slice(0, 12)}`)
  if (!existsSync(join(folder, 'dist'))) {
    say(`building ${commit.slice(0, 12)} in ${folder}`)
    mkdirSync(folder, { recursive: true })
    run('git', ['clone', '--quiet', '--no-checkout', ROOT, folder], ROOT)
    run('git', ['checkout', '--quiet', commit], folder)
    run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], folder)
    run(process.execPath, ['scripts/build.js'], folder)
    symlinkSync(join(ROOT, 'bench', 'node_modules'), join(folder, 'bench', 'node_modules'))
  }
  return pathToFileURL(join(folder, path))
}
