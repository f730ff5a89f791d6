/** Processes that tests start. None outlives its test, nor the process that runs the tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished, TestRunner } from 'vitest'
import { ROOT } from './sources.ts'

export interface Child {
  readonly process: ChildProcess
  /** The next line it prints. */
  line(): Promise<string>
  /** Resolves when it has ended; with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** A real Node process of our own, running a script of the project; `env` is added to ours. */
export const startChild = (
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Child => {
  const child = spawn(
    process.execPath,
    ['--import', WITH_PARENT, `${ROOT}${script}`, ...args],
    // The channel carries nothing: it closes when this process ends.
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env: { ...process.env, ...env } },
  )
  child.channel?.unref()
  // What is started for a whole file, in its beforeAll, that file ends itself.
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => void child.kill('SIGKILL'))
  const lines = linesOf(child)
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  return {
    process: child,
    line: async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${script} ended before it said anything more`)
      return value
    },
    ended,
    kill: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
}

export const WITH_PARENT = `${ROOT}test/support/with-parent.js`

function linesOf({ stdout }: ChildProcess): AsyncIterator<string> {
  if (stdout === null) throw new Error('a child has its output piped')
  return createInterface({ input: stdout })[Symbol.asyncIterator]()
}
