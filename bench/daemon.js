/** A server in a process of its own, on a port of its own, for as long as a variant needs it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../scripts/services/instance.js'
import { programEnvironment } from './provide.js'
import { scratchFolder } from './scratch-folder.js'

/** A server that has not answered by then will not. */
const START_MS = 15_000

const LOOK_MS = 25

/**
 * Starts it in a scratch folder and on a free port, and waits until `path` answers. `argsFor` is told
 * both, and may write files there first. The folder goes with the server.
 */
export const startServer = async (command, argsFor, path = '/') => {
  const folder = scratchFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const daemon = await startDaemon(command, argsFor({ folder: folder.path, port }), `${url}${path}`)
  return {
    url,
    folder: folder.path,
    stop: async () => {
      await daemon.stop()
      folder.remove()
    },
  }
}

/** Starts it and waits until `url` answers anything at all. */
const startDaemon = async (command, args, url) => {
  const child = spawn(command, args, {
    env: programEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (data) => {
    complaint += data
  })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${command} ended with ${code}: ${complaint}`)
  })
  // Ends are expected later on; only while it starts do they matter.
  failed.catch(() => {})
  await Promise.race([answering(url), failed])
  return {
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

const answering = async (url) => {
  const end = performance.now() + START_MS
  while (performance.now() < end) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await setTimeout(LOOK_MS)
    }
  }
  throw new Error(`nothing answers at ${url} after ${START_MS} ms`)
}
