/** Private Redis servers: a single one, and a cluster of three masters, with replicas or without. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { programEnvironment, provideProgram } from '../programs.js'
import { freePort, removeFolder, scratchFolder, startInstance } from './instance.js'

const run = promisify(execFile)

/** What a command line of Redis answers. */
export const ask = async (port, ...words) => {
  const { stdout } = await run('redis-cli', ['-p', String(port), ...words], {
    env: programEnvironment,
  })
  return stdout.trim()
}

const isAwake = async (port, flags) =>
  (await ask(port, ...flags, 'PING').catch(() => '')) === 'PONG'

/** Asks again until it is so. */
export const until = async (isSo) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

const TRIES = 5

/** `settings` are words of redis.conf: `['--appendonly', 'yes']`. */
export const startServer = (folder, settings, more = () => []) =>
  startSomewhere(async (port) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
    ...(await more()),
    ...settings,
  ])

/** On a free port; `words` are asked for whenever another is tried. */
export const startSomewhere = async (words, flags = []) => {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    try {
      const instance = await startInstance({
        command: 'redis-server',
        args: await words(port),
        isReady: () => isAwake(port, flags),
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

export const startCluster = (settings = []) => startNodes({ settings, replicas: 0 })

/** With a replica for each master, which takes its place soon after it is gone. */
export const startReplicatedCluster = (settings = []) =>
  startNodes({ settings: [...QUICK, ...settings], replicas: 3 })

const MASTERS = 3

/** How soon a master is missed, and how long a master waits for more replicas. */
const QUICK = ['--cluster-node-timeout', '1000', '--repl-diskless-sync-delay', '0']

const startNodes = async ({ settings, replicas }) => {
  const folders = Array.from({ length: MASTERS + replicas }, scratchFolder)
  const servers = await Promise.all(folders.map((folder) => startNode(folder, settings)))
  const [first] = servers
  const masters = servers.slice(0, MASTERS)
  await Promise.all(
    masters.map(({ port }, i) => {
      const [from, to] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / MASTERS))
      return ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1))
    }),
  )
  for (const { port, bus } of servers.slice(1)) {
    await ask(first.port, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus()))
  }
  await allWhole(servers)
  for (const [i, { port }] of servers.slice(MASTERS).entries()) {
    await ask(port, 'CLUSTER', 'REPLICATE', await ask(masters[i].port, 'CLUSTER', 'MYID'))
  }
  await until(async () =>
    (await Promise.all(servers.slice(MASTERS).map(({ port }) => isInStep(port)))).every(Boolean),
  )
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

const startNode = async (folder, settings) => {
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
}

const allWhole = (servers) =>
  until(async () => {
    const infos = await Promise.all(servers.map(({ port }) => ask(port, 'CLUSTER', 'INFO')))
    const known = `cluster_known_nodes:${servers.length}`
    return infos.every((info) => info.includes('cluster_state:ok') && info.includes(known))
  })

/** A replica that has all that its master has. */
export const isInStep = async (port) =>
  (await ask(port, 'INFO', 'replication')).includes('master_link_status:up')
