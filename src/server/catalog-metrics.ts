/** What Prometheus is told of the catalog in force. */
import { Gauge, type Registry } from 'prom-client'
import type { CatalogSource } from './headgate.ts'

/** Registers the gauges, and answers how to fill them from a catalog. */
export const registerCatalogMetrics = (registry: Registry): ((source: CatalogSource) => void) => {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const loadedAt = gauge(
    'headgate_catalog_loaded_timestamp_seconds',
    'When the catalog in force was loaded, in seconds since the epoch.',
  )
  const stale = gauge(
    'headgate_catalog_stale',
    '1 while the newest files hold a mistake and an older catalog is in force, else 0.',
  )
  const limits = gauge('headgate_limits', 'Limits that have a default or an override.')
  const overrides = new Gauge({
    name: 'headgate_overrides',
    help: 'Overrides in force, by limit.',
    labelNames: ['limit'],
    registers: [registry],
  })

  return (source) => {
    const status = source.status()
    const known = [...source.current().limits.values()]
    loadedAt.set(status.loadedAt / 1_000)
    stale.set(status.problem === undefined ? 0 : 1)
    limits.set(known.filter((limit) => limit.default || limit.overrideCount > 0).length)
    overrides.reset()
    for (const { name, overrideCount } of known) {
      if (overrideCount > 0) overrides.labels(name).set(overrideCount)
    }
  }
}
