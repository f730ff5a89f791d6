/** The URL of a Redis server or cluster: `redis://user:password@host:6379/0`, `redis+cluster://a,b:7000`. */
import { redisMistake } from './errors.ts'

export interface RedisAddress {
  /** Several are of one cluster; any of them tells of the others. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  readonly tls: boolean
  readonly cluster: boolean
}

const FORM =
  /^(redis|rediss|redis\+cluster|rediss\+cluster):\/\/(?:([^@/]*)@)?([^@/]*)(?:\/(\d*))?$/

const RULE =
  'must be redis://, rediss:// (TLS), redis+cluster:// or rediss+cluster://, then USER:PASSWORD@ if there is one, HOST:PORT and /DATABASE'

const DEFAULT_PORT = 6_379

/** Throws REDIS_URL_INVALID, which never quotes what may be a password. */
export const parseRedisUrl = (url: string): RedisAddress => {
  const [, scheme = '', user = '', hosts = '', database = ''] = FORM.exec(url) ?? []
  if (scheme === '' || hosts === '') throw invalid('something else')
  const cluster = scheme.endsWith('+cluster')
  if (!cluster && hosts.includes(',')) throw invalid('several hosts without redis+cluster://')
  if (cluster && Number(database) > 0) throw invalid('a database, which a cluster does not have')
  const colon = user.indexOf(':')
  const [username, password] =
    colon < 0 ? [user, ''] : [user.slice(0, colon), user.slice(colon + 1)]
  return {
    hosts: hosts.split(',').map(parseHost),
    username: decoded(username),
    password: decoded(password),
    database: Number(database),
    tls: scheme.startsWith('rediss'),
    cluster,
  }
}

function parseHost(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain = '', port = String(DEFAULT_PORT)] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === '' || Number(port) < 1 || Number(port) > 65_535) {
    throw invalid('a host or a port that cannot be one')
  }
  return { host, port: Number(port) }
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('a user or password with a % that must be written %25')
  }
}

const invalid = (finding: string) => redisMistake('REDIS_URL_INVALID', 'store', RULE, finding)
