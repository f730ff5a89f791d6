import { onTestFinished } from 'vitest'
import { NO_PLANS } from '../../src/spending/plan-catalog.ts'
import { completeSettings, type SettingsDraft } from '../../src/spending/settings-draft.ts'
import { createSpending } from '../../src/spending/spending.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFile } from './scratch-file.ts'

/** Spending on a file of its own: a total of 1000, and 300, 500 and 800 for the tiers. */
export function openSpending(draft: SettingsDraft = {}) {
  const tiers = { BASIC: 300n, EXTENDED: 500n, PRIVILEGED: 800n }
  const { settings } = completeSettings({ total: 1_000n, tiers }, draft)
  const store = sqliteStore({ path: scratchFile() })
  onTestFinished(() => store.close())
  return createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
}
