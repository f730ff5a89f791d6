// Limits that survive a restart: the same file, opened twice, goes on counting where it stopped.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter, parseCatalog } from 'headgate/requests'
import { sqliteStore } from 'headgate/sqlite'

const catalog = parseCatalog({
  limits: 'Exports: { id: opaque, burst: 2, count: 2, period: 24h }',
})
const folder = mkdtempSync(join(tmpdir(), 'headgate-'))

for (const start of ['first', 'second']) {
  const store = sqliteStore({ path: join(folder, 'headgate.db') })
  const limiter = createLimiter({ store, catalog: () => catalog })
  const { allowed, remaining } = await limiter.spend({
    limit: 'Exports',
    id: 'ann',
    operationId: start,
  })
  console.log(`${start} start: ${allowed ? 'allowed' : 'refused'}, ${remaining} left`)
  await store.close()
}
rmSync(folder, { recursive: true })
