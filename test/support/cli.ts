/** The `headgate` command: run in this process, or spawned as users run it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { WITH_PARENT } from './child.ts'
import { ROOT } from './sources.ts'

/** What users run: the built command. */
const MAIN = `${ROOT}dist/cli/main.js`

export interface Outcome {
  readonly exit: number | null
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a command to its end in this process, in a folder and an environment of its own. */
export const headgate = (
  words: readonly string[],
  { cwd, env = {} }: Surroundings,
): Promise<Outcome> => inFolder(cwd, () => startHere(words, env).ended)

/** The same as a process of its own. */
export const spawnHeadgate = (
  words: readonly string[],
  surroundings: Surroundings,
): Promise<Outcome> => endOf(spawnCommand(words, surroundings))

export interface RunningServer {
  readonly url: string
  readonly announced: Readonly<Record<string, unknown>>
  signal(name: NodeJS.Signals): void
  /** The log so far, as lines of JSON. */
  log(): string
  readonly ended: Promise<Outcome>
}

/** Starts `headgate serve` as a process on a free port; it ends with the test. */
export const serveHeadgate = async (
  words: readonly string[],
  surroundings: Surroundings,
): Promise<RunningServer> => {
  const child = spawnCommand(['serve', '--port', '0', '--json', ...words], surroundings)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log += chunk
  })
  const ended = endOf(child)
  const announced = await announcement((listen) => child.stdout?.on('data', listen), ended)
  const signal = (name: NodeJS.Signals): void => {
    child.kill(name)
  }
  return { url: String(announced['url']), announced, signal, log: () => log, ended }
}

/** The same in this process: a second server costs no second start of Node. */
export const serveHere = (
  words: readonly string[],
  { cwd, env = {} }: Surroundings,
): Promise<RunningServer> => listenHere(['serve', ...words, ...namedFiles(cwd, words)], env)

/** For any command that listens. It ends with the test, unless a signal has ended it before. */
export const listenHere = async (
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  run = runCommand,
): Promise<RunningServer> => {
  const running = startHere([...words, '--port', '0', '--json'], env, run)
  onTestFinished(async () => {
    running.signal('SIGTERM')
    await running.ended
  })
  const announced = await announcement(running.onOutput, running.ended)
  return { ...running, url: String(announced['url']), announced }
}

/** Asks again and again until it is so; a test that waits in vain ends by its own timeout. */
export const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 25))
}

let inFolders: Promise<unknown> = Promise.resolve()

/** One after another: a process is in one folder at a time. */
function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const turn = inFolders.then(async () => {
    const before = process.cwd()
    process.chdir(folder)
    try {
      return await work()
    } finally {
      process.chdir(before)
    }
  })
  inFolders = turn.catch(() => {})
  return turn
}

/** A server outlives the moment that this process spends in its folder, so its files are named whole. */
function namedFiles(folder: string, words: readonly string[]): readonly string[] {
  const config = join(folder, 'headgate.yml')
  const text = existsSync(config) ? readFileSync(config, 'utf8') : ''
  const namesStore = /^store:/m.test(text) || words.includes('--store')
  return [
    ...(text === '' ? [] : ['--config', config]),
    ...(namesStore ? [] : ['--store', `sqlite:${join(folder, 'headgate.db')}`]),
  ]
}

function startHere(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  run = runCommand,
) {
  const text = { out: '', err: '', log: '' }
  let listen = (_: string): void => {}
  let reload = (): void => {}
  let end = (_: string): void => {}
  const ending = new Promise<string>((resolve) => {
    end = resolve
  })
  const write = (data: string): void => {
    text.out += data
    listen(data)
  }
  const ended = run(words, {
    environment,
    clock: systemClock,
    terminal: {
      out: (line) => write(`${line}\n`),
      bytes: (data) => write(Buffer.from(data).toString()),
      err: (line) => {
        text.err += `${line}\n`
      },
      log: {
        write: (line) => {
          text.log += line
        },
      },
    },
    signals: {
      onReload: (wanted) => {
        reload = wanted
      },
      ended: () => ending,
    },
  }).then((exit): Outcome => ({ exit, out: text.out, err: text.err }))
  return {
    ended,
    log: () => text.log,
    signal: (name: NodeJS.Signals) => (name === 'SIGHUP' ? reload() : end(name)),
    onOutput: (listener: (data: string) => void) => {
      listen = listener
      listener(text.out)
    },
  }
}

/** It dies with this process, even if that is killed. */
function spawnCommand(words: readonly string[], { cwd, env = {} }: Surroundings): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HEADGATE_'))
  const child = spawn(process.execPath, ['--import', WITH_PARENT, MAIN, ...words], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  child.channel?.unref()
  return child
}

function endOf(child: ChildProcess): Promise<Outcome> {
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

/** What a server prints once it listens. */
async function announcement(
  onOutput: (listen: (data: string) => void) => void,
  ended: Promise<Outcome>,
): Promise<Record<string, unknown>> {
  let text = ''
  const announced = new Promise<Record<string, unknown>>((resolve) => {
    onOutput((data) => {
      text += data
      try {
        resolve(JSON.parse(text))
      } catch {
        // Not whole yet.
      }
    })
  })
  const first = await Promise.race([announced, ended])
  if ('exit' in first) throw new Error(`the server did not start: ${first.err}`)
  return first
}
