/** Private Redis servers: a single one, and a cluster of three masters. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { programEnvironment, provideProgram } from '../programs.js'
import { freePort, removeFolder, scratchFolder, startInstance } from './instance.js'

const run = promisify(execFile)

/** What a command line of Redis answers. */
const ask = async (port, ...words) => {
  const { stdout } = await run('redis-cli', ['-p', String(port), ...words], {
    env: programEnvironment,
  })
  return stdout.trim()
}

const isAwake = async (port) => (await ask(port, 'PING').catch(() => '')) === 'PONG'

const TRIES = 5

/** `settings` are words of redis.conf: `['--appendonly', 'yes']`. */
const startServer = async (folder, settings, more = () => []) => {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    const args = [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
      ...(await more()),
      ...settings,
    ]
    try {
      const instance = await startInstance({
        command: 'redis-server',
        args,
        isReady: () => isAwake(port),
      })
      return { port, ...instance }
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}

export const redisReason = (say) =>
  provideProgram('redis-server', ['redis-server'], say)
    ? undefined
    : 'redis-server is missing, and apt-get could not install it'

export const startRedis = async (settings = []) => {
  const folder = scratchFolder()
  const server = await startServer(folder, settings)
  return {
    ...server,
    url: `redis://127.0.0.1:${server.port}`,
    ports: [server.port],
    stop: async () => {
      await server.kill()
      removeFolder(folder)
    },
  }
}

const SLOTS = 16_384

export const startCluster = async (settings = []) => {
  const folders = [1, 2, 3].map(scratchFolder)
  const servers = await Promise.all(
    folders.map(async (folder) => {
      let bus
      const more = async () => {
        bus = await freePort()
        return [
          ...['--cluster-enabled', 'yes', '--cluster-port', String(bus)],
          ...['--cluster-node-timeout', '5000'],
        ]
      }
      const server = await startServer(folder, settings, more)
      return { ...server, bus: () => bus }
    }),
  )
  const [first] = servers
  await Promise.all(
    servers.map(async ({ port, bus }, i) => {
      const [from, to] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / servers.length))
      await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1))
      if (port !== first.port) {
        await ask(first.port, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus()))
      }
    }),
  )
  while (!(await Promise.all(servers.map(({ port }) => isWhole(port)))).every(Boolean)) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    ports: servers.map(({ port }) => port),
    kill: () => first.kill(),
    restart: () => first.restart(),
    stop: async () => {
      await Promise.all(servers.map(({ kill }) => kill()))
      for (const folder of folders) removeFolder(folder)
    },
  }
}

const isWhole = async (port) => {
  const info = await ask(port, 'CLUSTER', 'INFO')
  return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')
}
