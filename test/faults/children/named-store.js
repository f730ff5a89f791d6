/** Opens the store that a test has named: the path of a SQLite file, or a URL and a place on that server. */
import { postgres } from '../../../dist/stores/postgres/index.js'
import { redis } from '../../../dist/stores/redis/index.js'
import { sqlite } from '../../../dist/stores/sqlite/index.js'

/** Only for what hangs, in microseconds: many processes share the machine. */
const LONG = 120_000_000

export const openNamed = async (url, place, more = {}) => {
  if (place === undefined) return sqlite({ path: url })
  const settings = { url, timeout: LONG, patience: LONG, ...more }
  const store = url.startsWith('postgres')
    ? postgres({ ...settings, schema: place })
    : redis({ ...settings, prefix: place })
  await store.opened()
  return store
}
