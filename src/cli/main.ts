#!/usr/bin/env node
/** The `headgate` command. */
import { runCommand } from './run-command.ts'

/** `headgate limits list | head`: whoever reads no further has seen enough. */
const CLOSED_PIPE = 'EPIPE'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === CLOSED_PIPE) process.exit(0)
    throw error
  })
}

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  terminal: {
    out: (text) => process.stdout.write(`${text}\n`),
    bytes: (data) => process.stdout.write(data),
    err: (text) => process.stderr.write(`${text}\n`),
  },
})
