/** Stores on real servers for tests: each in a place of its own on the server that all share. */
import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { Pool } from 'pg'
import type { ServiceKind } from '../../scripts/services.js'
import { seconds } from '../../src/core/time.ts'
import { postgres } from '../../src/stores/postgres/index.ts'
import { type RedisOptions, redis } from '../../src/stores/redis/index.ts'
import type { OptimistSettings } from '../../src/stores/remote/optimist.ts'
import type { SharedStore } from '../../src/stores/remote/shared-store.ts'
import { sharedUrl } from './services.ts'

type PlaceSettings = OptimistSettings & Pick<RedisOptions, 'timeout' | 'script' | 'ca'>

export interface RemotePlace {
  /** The same place each time. Through another port, if one is given. */
  open(settings?: PlaceSettings, port?: number): SharedStore
  readonly url: string
  /** For processes of the test's own: where in the server it is. */
  readonly name: string
  /** Removes what was kept there. */
  clear(): Promise<void>
}

/** For what hangs only: a busy machine may take long. */
const FOR_LONG = { timeout: seconds(120), patience: seconds(120) }

/** Undefined where there is no such server here; that was printed. */
export const remotePlace = async (kind: ServiceKind): Promise<RemotePlace | undefined> => {
  const url = await sharedUrl(kind)
  return url === undefined ? undefined : placeAt(kind, url)
}

/** On a server of the test's own. */
export const placeAt = (kind: ServiceKind, url: string): RemotePlace => {
  // Not counted: a process runs many files, and each begins to count anew.
  const name = `t${randomUUID().replaceAll('-', '')}`
  const through = (port: number | undefined): string =>
    port === undefined ? url : url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`)
  if (kind === 'postgres' || kind === 'pgbouncer') {
    return {
      url,
      name,
      open: (settings, port) =>
        postgres({ ...FOR_LONG, ...settings, url: through(port), schema: name }),
      clear: () => clearSchema(url, name),
    }
  }
  const prefix = `${name}:`
  return {
    url,
    name: prefix,
    open: (settings, port) => redis({ ...FOR_LONG, ...settings, url: through(port), prefix }),
    clear: () => clearPrefix(url, prefix),
  }
}

/** The tables stay: to make them anew takes longer than most tests. */
async function clearSchema(url: string, schema: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 })
  const tables = ['items', 'entries', 'streams', 'claims'].map((table) => `${schema}.${table}`)
  await pool.query(`DO $$ BEGIN
    IF to_regclass('${schema}.claims') IS NOT NULL THEN
      TRUNCATE ${tables.join()};
      UPDATE ${schema}.life SET fence = NULL;
    END IF;
  END $$`)
  await pool.end()
}

async function clearPrefix(url: string, prefix: string): Promise<void> {
  const hosts = url.replace(/^.*:\/\//, '').split(',')
  const [first = ''] = hosts
  const [host = '', port] = first.split(':')
  const cluster = hosts.length > 1 ? new Cluster([{ host, port: Number(port) }]) : undefined
  if (cluster !== undefined) await new Promise((resolve) => cluster.once('ready', resolve))
  const nodes = cluster?.nodes('master') ?? [new Redis({ host, port: Number(port) })]
  for (const node of nodes) {
    for await (const names of node.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      await Promise.all(names.map((name: string) => node.unlink(name)))
    }
    if (cluster === undefined) node.disconnect()
  }
  cluster?.disconnect()
}
