import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ROOT } from './sources.ts'

export interface Child {
  readonly process: ChildProcess
  /** The next line it prints. */
  line(): Promise<string>
  /** Resolves when it has ended; with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** A real Node process of our own, running a script of the project. */
export const startChild = (script: string, args: readonly string[] = []): Child => {
  const child = spawn(process.execPath, [`${ROOT}${script}`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
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
