// Limits that survive a restart: the same file, opened twice, goes on counting where it stopped.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limiter } from 'headgate'
import { sqlite } from 'headgate/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'headgate-'))

for (const start of ['first', 'second']) {
  const store = sqlite(join(folder, 'headgate.db'))
  const exports = limiter({ store, limits: { Exports: { burst: 2, period: '24h' } } })
  const { allowed, remaining } = await exports.spend('Exports', 'ann', { operationId: start })
  console.log(`${start} start: ${allowed ? 'allowed' : 'refused'}, ${remaining} left`)
  await store.close()
}
rmSync(folder, { recursive: true })
