/** Whether a Redis server can be a store: new enough, and nothing there that we cannot read. */
import { quote } from '../../core/errors.ts'
import type { ServerLine } from '../remote/line.ts'
import type { RedisAddress } from './address.ts'
import { redisMistake } from './errors.ts'
import { isRedisReply, type RedisLink, type RedisNode } from './link.ts'
import type { RedisNames } from './names.ts'

/** The number of what `backend.ts` writes. A newer Headgate that writes otherwise counts on. */
const FORMAT = '1'

/** For `XADD` with a position of ours (`0-*`), which older ones do not know. */
const OLDEST = 7

export const checkFitness = async (
  thing: string,
  { link, line, names }: { link: RedisLink; line: ServerLine; names: RedisNames },
): Promise<void> => {
  for (const info of await line.ask(() => serverInfos(link))) {
    const version = infoField(info, 'redis_version') ?? ''
    if (!(Number.parseInt(version, 10) >= OLDEST)) {
      const rule = `must be Redis ${OLDEST}.0 or newer`
      throw redisMistake('REDIS_TOO_OLD', thing, rule, quote(version))
    }
  }
  const found = await line.ask(() => link.call('SET', names.format, FORMAT, 'NX', 'GET'))
  if (found !== null && found !== FORMAT) {
    const rule = `holds data of format ${FORMAT}, which is all that this version reads`
    throw redisMistake('REDIS_FORMAT_NEWER', thing, rule, `format ${quote(String(found))}`)
  }
}

/** Of a cluster those that are out of reach are left out: what lies elsewhere is served without them. */
async function serverInfos(link: RedisLink): Promise<readonly string[]> {
  const nodes = await link.masters()
  const asked = await Promise.allSettled(nodes.map(({ call }) => call('INFO', 'server')))
  const failed = asked.filter((one) => one.status === 'rejected').map(({ reason }) => reason)
  for (const reason of failed) if (isRedisReply(reason)) throw reason
  if (failed.length === nodes.length) throw failed[0]
  return asked.flatMap((one) => (one.status === 'fulfilled' ? [String(one.value)] : []))
}

/**
 * Why a Redis server may lose what it acknowledged, in words; none where it does not. A lost count of
 * requests admits some again; a lost charge of money or of an attempt at a PIN hands it out twice, so that
 * those are refused such a server.
 */
export const findLosses = async (
  { link, line }: { link: RedisLink; line: ServerLine },
  kind: RedisAddress['kind'],
): Promise<readonly string[]> => {
  const nodes = await line.ask(link.masters)
  const found = await Promise.all(nodes.map((node) => lossesOf(node, line)))
  return [...new Set([...FAILOVER[kind], ...found.flat()])]
}

/** Whatever the settings, and though no replica be there at the moment. */
const FAILOVER: Readonly<Record<RedisAddress['kind'], readonly string[]>> = {
  server: [],
  cluster: ['a cluster, whose failover may lose the newest writes'],
  sentinel: ['Sentinel, whose failover may lose the newest writes'],
}

async function lossesOf({ call }: RedisNode, line: ServerLine): Promise<readonly string[]> {
  const replication = String(await line.ask(() => call('INFO', 'replication')))
  const isAlone = /^role:master/m.test(replication) && /^connected_slaves:0/m.test(replication)
  const settings = await settingsOf(call, line)
  const wrong = Object.entries(WANTED)
    .filter(([name, value]) => settings.get(name) !== value)
    .map(([name, value]) => `${name} is ${settings.get(name) ?? 'not known'}, not ${value}`)
  return isAlone ? wrong : ['replicas, to which a failover may lose the newest writes', ...wrong]
}

/** What the servers are like, for those who check them; by name, for people. */
export const inspectRedis = async ({
  link,
  line,
  names,
}: {
  link: RedisLink
  line: ServerLine
  names: RedisNames
}): Promise<Readonly<Record<string, string | number>>> => {
  const nodes = await line.ask(link.masters)
  const infos = await Promise.all(
    nodes.map(({ call }) => line.ask(async () => String(await call('INFO')))),
  )
  const all = (field: string): string =>
    [...new Set(infos.map((info) => infoField(info, field) ?? '?'))].join(', ')
  const sum = (field: string): number =>
    infos.reduce((total, info) => total + Number(infoField(info, field) ?? 0), 0)
  const settings = await Promise.all(nodes.map(({ call }) => settingsOf(call, line)))
  const kept = Object.keys(WANTED).map((name) => {
    const values = new Set(settings.map((found) => found.get(name) ?? 'not known'))
    return [name, [...values].join(', ')] as const
  })
  return {
    version: all('redis_version'),
    format: String(await line.ask(() => link.call('GET', names.format))),
    servers: nodes.length,
    replicas: sum('connected_slaves'),
    ...Object.fromEntries(kept),
    bytes: sum('used_memory'),
  }
}

/** A field of what INFO tells. */
export const infoField = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1]

/** The disk has a write before it is answered, and nothing is dropped for want of memory. */
const WANTED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
}

/** Empty where nobody may ask, as on many hosted servers. */
async function settingsOf(
  call: RedisNode['call'],
  line: ServerLine,
): Promise<ReadonlyMap<string, string>> {
  const denied = (error: unknown): unknown => {
    if (isRedisReply(error)) return []
    throw error
  }
  const names = Object.keys(WANTED)
  const found = await line.ask(() => call('CONFIG', 'GET', ...names).catch(denied))
  const words = Array.isArray(found) ? found.map(String) : []
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? '']] : [])))
}
