// Queues expenses of 4^i for i from FIRST on, and prints each i when it is safe on disk. Never ends by itself.

import { createSpending, NO_PLANS } from '../../../dist/spending/index.js'
import { openCaptureQueue } from '../../../dist/spending/operator/capture-queue.js'
import { completeSettings } from '../../../dist/spending/settings/settings.js'
import { sqlite } from '../../../dist/stores/sqlite/index.js'

const [, , folder, first, count] = process.argv
const { settings } = completeSettings({
  window: { length: 100_000 * 86_400_000_000 },
  total: 'unlimited',
  tiers: { BASIC: 'unlimited', EXTENDED: 'unlimited', PRIVILEGED: 'unlimited' },
})
const store = sqlite({ path: `${folder}/headgate.db` })
const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
const clock = () => 1
const queue = await openCaptureQueue({ path: `${folder}/queue`, spending, clock })
console.log('ready')
for (let i = Number(first); i < Number(first) + Number(count); i++) {
  const expense = { verb: 'record', from: '0xa1', amount: 4n ** BigInt(i), operationId: `tx/${i}` }
  await queue.add(expense)
  console.log(`safe ${i}`)
}
setInterval(() => {}, 1_000)
