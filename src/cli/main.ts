#!/usr/bin/env node
/** The `headgate` command: a command run in this process, on its terminal, with its signals. */
import { systemClock } from '../lib/clock.ts'
import type { Signals } from './command.ts'
import { runCommand } from './run.ts'

/** `headgate limits list | head`: the reader has seen enough, which is no failure. */
const CLOSED_PIPE = 'EPIPE'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === CLOSED_PIPE) process.exit(0)
    throw error
  })
}

/** npm passes on a Ctrl-C that the server has had already: so soon, it is the same one. */
const SAME_SIGNAL_MS = 500

const signals: Signals = {
  onReload: (reload) => {
    process.on('SIGHUP', reload)
  },
  // At the second signal the process ends at once, whatever is open.
  ended: () =>
    new Promise((resolve) => {
      let impatient = false
      const end = (signal: NodeJS.Signals): void => {
        if (impatient) process.exit(1)
        setTimeout(() => {
          impatient = true
        }, SAME_SIGNAL_MS).unref()
        resolve(signal)
      }
      process.on('SIGTERM', end)
      process.on('SIGINT', end)
    }),
}

/** Over the one before; whatever else is printed begins on a line of its own. */
let watched = false
const endStatus = (): void => {
  if (watched) process.stderr.write('\n')
  watched = false
}
function status(text: string): void {
  watched = true
  process.stderr.write(`\r${text}\u001b[K`)
}

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  terminal: {
    out: (text) => {
      endStatus()
      process.stdout.write(`${text}\n`)
    },
    bytes: (data) => process.stdout.write(data),
    err: (text) => {
      endStatus()
      process.stderr.write(`${text}\n`)
    },
    ...(process.stderr.isTTY && { status }),
  },
  clock: systemClock,
  signals,
})
