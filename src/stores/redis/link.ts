/** The connection to a Redis server or cluster, through ioredis, set up so that nothing is sent twice. */
import { Cluster, Redis } from 'ioredis'
import { type Span, toMillis } from '../../core/time.ts'
import type { RedisAddress } from './address.ts'
import type { Script } from './scripts.ts'

export interface RedisLink {
  /** In a cluster it goes where its first key is. */
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** The servers that take writes, in an order of their own; one, but in a cluster. */
  nodes(): readonly RedisNode[]
  close(): Promise<void>
}

export interface RedisNode {
  readonly name: string
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>
}

export const openLink = (address: RedisAddress, timeout: Span): RedisLink =>
  address.cluster ? clusterLink(address, timeout) : serverLink(address, timeout)

/** Whether an error is Redis's own word: it has one of its own for those. */
export const isRedisReply = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'ReplyError'

/** Between two tries to connect: the line probes no more often. */
const RECONNECT_MS = 200

/**
 * ioredis would send a call again when its connection was cut, which may apply it twice: a call that
 * was cut fails instead, and with it those that wait for a connection that cannot be had.
 */
const settingsFor = ({ username, password, tls }: RedisAddress, timeout: Span) => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  ...(tls && { tls: {} }),
  connectTimeout: toMillis(timeout),
  // A connection to a machine that is gone may look alive for a quarter of an hour: one that owes an
  // answer for so long is given up, and the next may lead to the machine in its place.
  socketTimeout: toMillis(timeout),
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // After a failover the name may lead to another server.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
})

function serverLink(address: RedisAddress, timeout: Span): RedisLink {
  const [{ host, port } = DEFAULT_HOST] = address.hosts
  const client = new Redis({
    ...settingsFor(address, timeout),
    host,
    port,
    db: address.database,
    retryStrategy: () => RECONNECT_MS,
  })
  const link = linkOf(client)
  return { ...link, nodes: () => [{ name: '', call: link.call }] }
}

function clusterLink(address: RedisAddress, timeout: Span): RedisLink {
  const client = new Cluster([...address.hosts], {
    redisOptions: settingsFor(address, timeout),
    // As above: no call is sent again because its connection was cut.
    retryDelayOnFailover: 0,
    slotsRefreshTimeout: toMillis(timeout),
    clusterRetryStrategy: () => RECONNECT_MS,
  })
  return {
    ...linkOf(client),
    nodes: () =>
      client
        .nodes('master')
        .map((node) => ({
          name: `${node.options.host}:${node.options.port}`,
          call: (command: string, ...args: readonly (string | number)[]) =>
            node.call(command, ...args),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/** What a server and a cluster have in common. */
function linkOf(client: Redis | Cluster): Omit<RedisLink, 'nodes'> {
  // Told to those who call.
  client.on('error', () => {})
  return {
    call: (command, ...args) => client.call(command, ...args),
    run: runner((command, words) => client.call(command, words)),
    close: async () => client.disconnect(),
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
