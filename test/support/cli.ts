import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** What users run: the built command. */
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Outcome {
  readonly exit: number | null
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a command to its end, in a folder and an environment of its own. */
export const headgate = (
  words: readonly string[],
  surroundings: Surroundings,
): Promise<Outcome> => {
  const child = start(words, surroundings)
  return ended(child)
}

export interface RunningServer {
  readonly url: string
  readonly announced: Readonly<Record<string, unknown>>
  signal(name: NodeJS.Signals): void
  /** The log so far, as lines of JSON. */
  log(): string
  readonly ended: Promise<Outcome>
}

/** Starts `headgate serve` on a free port; it ends with the test. */
export const serveHeadgate = async (
  words: readonly string[],
  surroundings: Surroundings,
): Promise<RunningServer> => {
  const child = start(['serve', '--port', '0', '--json', ...words], surroundings)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log += chunk
  })
  const end = ended(child)
  const announced = await Promise.race([firstJson(child), end])
  if ('exit' in announced) throw new Error(`the server did not start: ${announced.err}`)
  return {
    url: String(announced['url']),
    announced,
    signal: (name) => {
      child.kill(name)
    },
    log: () => log,
    ended: end,
  }
}

/** Asks again and again until it is so; a test that waits in vain ends by its own timeout. */
export const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 25))
}

function start(words: readonly string[], { cwd, env = {} }: Surroundings): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HEADGATE_'))
  return spawn(process.execPath, [MAIN, ...words], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function ended(child: ChildProcess): Promise<Outcome> {
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  return new Promise((resolve) => child.on('close', (exit) => resolve({ exit, out, err })))
}

/** What the server prints once it listens. */
function firstJson(child: ChildProcess): Promise<Record<string, unknown>> {
  let text = ''
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => {
      text += chunk
      try {
        resolve(JSON.parse(text))
      } catch {
        // Not whole yet.
      }
    })
  })
}
