/** A server in a process of its own, whatever runs it, on a port that was free a moment ago. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export interface ServerProcess {
  readonly url: string
  /** All that it has printed, to whatever stream. */
  printed(): string
  close(): Promise<void>
}

/** Longer than any runtime takes to start on a busy machine. */
const PATIENCE_MS = 30_000

/** `arguments` of the port, which is in the environment as PORT too. Resolves when it answers HTTP. */
export const startServerProcess = async (
  command: string,
  argumentsFor: (port: number) => readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ServerProcess> => {
  const port = await freePort()
  const child = spawn(command, argumentsFor(port), {
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk
    })
  }
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const close = async () => {
    process.off('exit', kill)
    kill()
    await ended
  }
  const url = `http://127.0.0.1:${port}/`
  const until = Date.now() + PATIENCE_MS
  while (!(await isOpen(port))) {
    if (child.exitCode === null && Date.now() < until) continue
    await close()
    throw new Error(`${command} does not listen: ${printed}`)
  }
  return { url, printed: () => printed, close }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  server.close()
  return address.port
}

/** Asked without HTTP: a request would be counted. */
async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const open = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  if (!open) await new Promise((resolve) => setTimeout(resolve, 50))
  return open
}
