/**
 * The URL of a Redis server, cluster or group under Sentinel: `redis://user:password@host:6379/0`,
 * `redis+cluster://a,b:7000`, `redis+sentinel://a,b:26379/mymaster`.
 */
import { redisMistake } from './errors.ts'

export interface RedisAddress {
  readonly kind: 'server' | 'cluster' | 'sentinel'
  /** Several are of one cluster, or are Sentinels of one group; any of them tells of the others. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  readonly tls: boolean
  /** What Sentinels call the group of servers; empty without them. */
  readonly group: string
  /** Of the Sentinels themselves, where they ask for it. */
  readonly sentinelUsername: string | undefined
  readonly sentinelPassword: string | undefined
  /** `?script=off`: no script of its own for plain spends. */
  readonly script: boolean
}

const FORM =
  /^rediss?(?:\+(cluster|sentinel))?:\/\/(?:([^@/?]*)@)?([^@/?]*)(?:\/([^/?]*)(?:\/(\d*))?)?(?:\?(.*))?$/

const RULE =
  'must be redis://, redis+cluster:// or redis+sentinel:// (rediss… with TLS), then USER:PASSWORD@ if there is one, HOST:PORT, and /DATABASE, or under Sentinel /NAME or /NAME/DATABASE'

const DEFAULT_PORT = 6_379
const SENTINEL_PORT = 26_379

/** Throws REDIS_URL_INVALID, which never quotes what may be a password. */
export const parseRedisUrl = (url: string): RedisAddress => {
  const found = FORM.exec(url)
  if (found === null) throw invalid('something else')
  const [, several, user = '', hosts = '', path = '', deeper, query = ''] = found
  const kind = several === 'cluster' || several === 'sentinel' ? several : 'server'
  if (hosts === '') throw invalid('no host')
  if (kind === 'server' && hosts.includes(',')) {
    throw invalid('several hosts without redis+cluster:// or redis+sentinel://')
  }
  const group = kind === 'sentinel' ? (decoded(path, 'a name') ?? '') : ''
  if (kind === 'sentinel' && group === '') throw invalid('no name of what the Sentinels watch')
  if (kind !== 'sentinel' && deeper !== undefined) throw invalid('a path of several parts')
  const database = kind === 'sentinel' ? (deeper ?? '') : path
  if (!/^\d*$/.test(database)) throw invalid('a database that is no number')
  if (kind === 'cluster' && Number(database) > 0) {
    throw invalid('a database, which a cluster does not have')
  }
  const colon = user.indexOf(':')
  const [username, password] =
    colon < 0 ? [user, ''] : [user.slice(0, colon), user.slice(colon + 1)]
  return {
    kind,
    hosts: hosts.split(',').map((host) => parseHost(host, kind)),
    username: decoded(username, 'a user or password'),
    password: decoded(password, 'a user or password'),
    database: Number(database),
    tls: url.startsWith('rediss'),
    group,
    ...parseQuery(query, kind),
  }
}

function parseHost(
  text: string,
  kind: RedisAddress['kind'],
): { readonly host: string; readonly port: number } {
  const usual = kind === 'sentinel' ? SENTINEL_PORT : DEFAULT_PORT
  const [, bracketed, plain = '', port = String(usual)] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === '' || Number(port) < 1 || Number(port) > 65_535) {
    throw invalid('a host or a port that cannot be one')
  }
  return { host, port: Number(port) }
}

const SENTINEL_WORDS = ['sentinelUsername', 'sentinelPassword']

function parseQuery(
  query: string,
  kind: RedisAddress['kind'],
): Pick<RedisAddress, 'script' | 'sentinelUsername' | 'sentinelPassword'> {
  const words = new URLSearchParams(query)
  const known = kind === 'sentinel' ? ['script', ...SENTINEL_WORDS] : ['script']
  if (![...words.keys()].every((word) => known.includes(word))) {
    throw invalid(`a parameter other than ${known.join(', ')}`)
  }
  const script = words.get('script') ?? 'on'
  if (script !== 'on' && script !== 'off') throw invalid('a script that is neither on nor off')
  const [sentinelUsername, sentinelPassword] = SENTINEL_WORDS.map((word) => words.get(word))
  return {
    script: script === 'on',
    sentinelUsername: sentinelUsername ?? undefined,
    sentinelPassword: sentinelPassword ?? undefined,
  }
}

function decoded(text: string, thing: string): string | undefined {
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(`${thing} with a % that must be written %25`)
  }
}

const invalid = (finding: string) => redisMistake('REDIS_URL_INVALID', 'store', RULE, finding)
