import { onTestFinished } from 'vitest'
import { NO_PLANS } from '../../src/spending/plans/resolve.ts'
import { completeSettings, type GivenSpending } from '../../src/spending/settings/settings.ts'
import { createSpending } from '../../src/spending/spending.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { scratchFile } from './scratch-file.ts'

/** Spending on a file of its own: a total of 1000, and 300, 500 and 800 for the tiers. */
export function openSpending(given: GivenSpending = {}) {
  const tiers = { BASIC: 300n, EXTENDED: 500n, PRIVILEGED: 800n }
  const { settings } = completeSettings({ total: 1_000n, tiers }, given)
  const store = sqlite({ path: scratchFile() })
  onTestFinished(() => store.close())
  return createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
}
