/**
 * Stands in for `stores/memory` in the tests of the pillars when HEADGATE_STORE asks for it
 * (vitest.config.ts, scripts/prove.js): the same suites, over a store with partitions or over a remote one.
 */
import { systemClock } from '../../src/lib/clock.ts'
import { type MemoryOptions, memory as plain } from '../../src/stores/memory/index.ts'
import { pretendedCluster, remoteStore } from '../../src/testing/index.ts'

export const memory = (options: MemoryOptions = {}) => {
  const inner = plain(options)
  if (process.env['HEADGATE_STORE'] === 'cluster') return pretendedCluster(inner)
  const remote = remoteStore(inner, { clock: options.clock ?? systemClock })
  const close = async () => {
    await remote.close()
    await inner.close()
  }
  return { ...remote, close }
}
