/** One server process of our own, in a folder of its own: started, killed, started again, ended by its id. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programEnvironment } from '../programs.js'

export const scratchFolder = () => mkdtempSync(join(tmpdir(), 'headgate-services-'))

export const removeFolder = (folder) => rmSync(folder, { recursive: true, force: true })

/** Nobody listens there now. Another program may be faster: whoever starts there tries again elsewhere. */
export const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

const RELAUNCHES = 100

/**
 * `isReady` is asked until it answers true, or the process has ended: then its last words are the error.
 */
export const startInstance = async ({ command, args, options = {}, isReady }) => {
  let child
  let ended
  const launch = async () => {
    let words = ''
    child = spawn(command, args, {
      env: programEnvironment,
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const listen = (chunk) => {
      words = `${words}${chunk}`.slice(-2_000)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    ended = new Promise((resolve) => {
      child.once('error', resolve)
      child.once('exit', resolve)
    })
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    while (!(await isReady())) {
      if (isOver) throw new Error(`${command} ended: ${words}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const end = async (signal) => {
    child.kill(signal)
    await ended
  }
  /** What a killed server leaves behind, as PostgreSQL's memory, may bar the next for a moment. */
  const relaunch = async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await launch()
      } catch (error) {
        if (tries === RELAUNCHES) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  await launch()
  return {
    /** As a crash does. */
    kill: () => end('SIGKILL'),
    /** Whoever is asked stops with SIGTERM; PostgreSQL at once with SIGINT. */
    stop: (signal = 'SIGTERM') => end(signal),
    /** On the same data and port. */
    restart: async () => {
      await end('SIGKILL')
      await relaunch()
    },
  }
}
