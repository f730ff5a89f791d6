/** The connection to a Redis server, to the master under Sentinel or to a cluster, through ioredis, set up so that nothing is sent twice. */
import { Cluster, Redis } from 'ioredis'
import { assert } from '../../core/errors.ts'
import { type Span, toMillis } from '../../core/time.ts'
import type { RedisAddress } from './address.ts'
import type { Script } from './scripts.ts'
import { ALL_SLOTS, slotsIn } from './slots.ts'

export interface RedisLink {
  /** In a cluster it goes where its first key is. */
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /**
   * The servers that take writes; one, but in a cluster, which is asked each time: the connections that
   * happen to be open say nothing of a server whose connection was cut.
   */
  masters(): Promise<readonly RedisNode[]>
  /**
   * Hears what is published, until the returned function is called, over a connection of its own that is
   * opened again when it is lost. `listening` is told when it begins and when it ends.
   */
  subscribe(
    channel: string,
    heard: (message: string) => void,
    listening: (on: boolean) => void,
  ): () => void
  close(): Promise<void>
}

export interface RedisNode {
  /** Of a cluster the id that it has for good. */
  readonly id: string
  readonly slots: ReadonlySet<number>
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>
}

export interface LinkOptions {
  readonly timeout: Span
  /** Certificates that are trusted instead of the system's. */
  readonly ca?: string | undefined
}

export const openLink = (address: RedisAddress, options: LinkOptions): RedisLink =>
  address.kind === 'cluster' ? clusterLink(address, options) : serverLink(address, options)

/** Whether an error is Redis's own word: it has one of its own for those. */
export const isRedisReply = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'ReplyError'

/** Between two tries to connect: the line probes no more often. */
const RECONNECT_MS = 200

/**
 * ioredis would send a call again when its connection was cut, which may apply it twice: a call that
 * was cut fails instead, and with it those that wait for a connection that cannot be had.
 */
const settingsFor = (address: RedisAddress, { timeout, ca }: LinkOptions) => ({
  ...(address.username !== undefined && { username: address.username }),
  ...(address.password !== undefined && { password: address.password }),
  ...(address.tls && { tls: ca === undefined ? {} : { ca } }),
  connectTimeout: toMillis(timeout),
  // A connection to a machine that is gone may look alive for a quarter of an hour: one that owes an
  // answer for so long is given up, and the next may lead to the machine in its place.
  socketTimeout: toMillis(timeout),
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // After a failover the name may lead to another server.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
})

function serverLink(address: RedisAddress, options: LinkOptions): RedisLink {
  const [{ host, port } = DEFAULT_HOST] = address.hosts
  const settings = settingsFor(address, options)
  const client = new Redis({
    ...settings,
    ...(address.kind === 'sentinel' ? sentinelSettings(address, options) : { host, port }),
    db: address.database,
    retryStrategy: () => RECONNECT_MS,
  })
  const link = linkOf(client)
  return { ...link, masters: async () => [{ id: '', slots: ALL_SLOTS, call: link.call }] }
}

/** Asked anew at each connection which server is the master; and told when that changes. */
const sentinelSettings = (address: RedisAddress, { timeout, ca }: LinkOptions) => ({
  sentinels: [...address.hosts],
  name: address.group,
  ...(address.sentinelUsername !== undefined && { sentinelUsername: address.sentinelUsername }),
  ...(address.sentinelPassword !== undefined && { sentinelPassword: address.sentinelPassword }),
  ...(address.tls && {
    enableTLSForSentinelMode: true,
    sentinelTLS: ca === undefined ? {} : { ca },
  }),
  sentinelRetryStrategy: () => RECONNECT_MS,
  sentinelReconnectStrategy: () => RECONNECT_MS,
  sentinelCommandTimeout: toMillis(timeout),
  failoverDetector: true,
})

function clusterLink(address: RedisAddress, options: LinkOptions): RedisLink {
  const client = new Cluster([...address.hosts], {
    redisOptions: settingsFor(address, options),
    // As above: no call is sent again because its connection was cut.
    retryDelayOnFailover: 0,
    slotsRefreshTimeout: toMillis(options.timeout),
    clusterRetryStrategy: () => RECONNECT_MS,
  })
  const link = linkOf(client)
  return {
    ...link,
    masters: async () => {
      const found = mastersIn(await link.call('CLUSTER', 'SLOTS'))
      if (found.some(({ address }) => connectionTo(client, address) === undefined)) {
        await refreshed(client)
      }
      return found.map(({ address, id, slots }) => ({
        id,
        slots,
        call: async (command, ...args) =>
          connectionTo(client, address)?.call(command, ...args) ??
          Promise.reject(new Error(`no connection to ${address}`)),
      }))
    },
  }
}

interface ClusterMaster {
  readonly id: string
  readonly address: string
  readonly slots: Set<number>
}

/** What CLUSTER SLOTS tells: of each range its first and last slot, its master, its replicas. */
function mastersIn(reply: unknown): readonly ClusterMaster[] {
  assert(Array.isArray(reply), 'CLUSTER SLOTS answers a list')
  const found = new Map<string, ClusterMaster>()
  for (const [first, last, [host, port, name]] of reply) {
    const id = String(name)
    const master = found.get(id) ?? { id, address: `${host}:${port}`, slots: new Set() }
    for (const slot of slotsIn(`${first}-${last}`)) master.slots.add(slot)
    found.set(id, master)
  }
  return [...found.values()]
}

const connectionTo = (client: Cluster, address: string): Redis | undefined =>
  client.nodes('master').find(({ options }) => `${options.host}:${options.port}` === address)

/** ioredis lets go of a server whose connection was cut, and finds it again only when it looks anew. */
const refreshed = (client: Cluster): Promise<void> =>
  new Promise((resolve, reject) => {
    client.refreshSlotsCache((error) => (error ? reject(error) : resolve()))
  })

/** What a server and a cluster have in common. */
function linkOf(client: Redis | Cluster): Omit<RedisLink, 'masters'> {
  // What is wrong with the connection: a call that finds none is told only that it was not tried again.
  let trouble: Error | undefined
  client.on('error', (error: Error) => {
    trouble = error
  })
  client.on('ready', () => {
    trouble = undefined
  })
  const letGo = holdOn(client)
  const told = async (calling: Promise<unknown>): Promise<unknown> => {
    try {
      return await calling
    } catch (cause) {
      const isUntried = cause instanceof Error && cause.name === 'MaxRetriesPerRequestError'
      throw isUntried && trouble !== undefined ? trouble : cause
    }
  }
  return {
    call: (command, ...args) => told(client.call(command, ...args)),
    run: runner((command, words) => told(client.call(command, words))),
    subscribe: (channel, heard, listening) => {
      // A connection that listens takes no other commands; a cluster has one for that.
      if (client instanceof Cluster) return subscribeBy(client, channel, heard, listening)
      const ear = client.duplicate({ autoResubscribe: false })
      ear.on('error', () => {})
      const letEarGo = holdOn(ear)
      const unsubscribe = subscribeBy(ear, channel, heard, listening)
      return () => {
        unsubscribe()
        letEarGo()
      }
    },
    close: async () => letGo(),
  }
}

/** ioredis gives up for good when a Sentinel tells it of a new master just while it connects. */
function holdOn(client: Redis | Cluster): () => void {
  let isOver = false
  client.on('end', () => {
    const connect = () => (isOver ? undefined : client.connect().catch(() => {}))
    if (!isOver) setTimeout(connect, RECONNECT_MS)
  })
  return () => {
    isOver = true
    client.disconnect()
  }
}

function subscribeBy(
  ear: Redis | Cluster,
  ...[channel, heard, listening]: Parameters<RedisLink['subscribe']>
): () => void {
  let isHearing = false
  const tell = (on: boolean): void => {
    if (on !== isHearing) listening(on)
    isHearing = on
  }
  const begin = (): void => {
    // Where it may not, by the server's rules for its user, polls do it.
    void ear.subscribe(channel).then(
      () => tell(true),
      () => {},
    )
  }
  const end = (): void => tell(false)
  const hear = (from: string, message: string): void => {
    if (from === channel) heard(message)
  }
  ear.on('ready', begin).on('close', end).on('message', hear)
  if (ear.status === 'ready') begin()
  return () => {
    ear.off('ready', begin).off('close', end).off('message', hear)
    void ear.unsubscribe(channel).catch(() => {})
  }
}

const DEFAULT_HOST = { host: '127.0.0.1', port: 6_379 }

/**
 * By its digest; a server that was restarted or told to forget its scripts gets the text again. The words
 * of a large commit come in a list: as arguments they do not fit on the stack.
 */
const runner =
  (call: (command: string, words: (string | number)[]) => Promise<unknown>): RedisLink['run'] =>
  async (script, keys, args) => {
    const words = [keys.length, ...keys, ...args]
    try {
      return await call('EVALSHA', [script.digest, ...words])
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return call('EVAL', [script.text, ...words])
    }
  }
