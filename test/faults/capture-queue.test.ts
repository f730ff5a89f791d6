/** What was queued survives `kill -9` and a full disk, and is booked once. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { days, instant } from '../../src/core/time.ts'
import { openDiskQueue } from '../../src/lib/disk-queue/disk-queue.ts'
import { openCaptureQueue } from '../../src/spending/operator/capture-queue.ts'
import { NO_PLANS } from '../../src/spending/plans/resolve.ts'
import { completeSettings } from '../../src/spending/settings/settings.ts'
import { createSpending } from '../../src/spending/spending.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { scratchFile } from '../support/scratch-file.ts'
import { ROOT } from '../support/sources.ts'

/** As many as fit an amount: expense i is 4^i, so the sum tells how often each was booked. */
const EXPENSES = 120
const SCRIPT = 'test/faults/children/capturer.js'
const FULL_DISK = 'test/faults/children/full-disk.js'

/** As the child has them: no limit, and one window for all. */
const { settings } = completeSettings({
  window: { length: days(100_000) },
  total: 'unlimited',
  tiers: { BASIC: 'unlimited', EXTENDED: 'unlimited', PRIVILEGED: 'unlimited' },
})

test('every expense that was safe is booked once, however often its process was killed', async () => {
  const folder = scratchFile('.')
  const rounds = times(3, 20)
  const share = Math.floor(EXPENSES / rounds)
  const safe = new Set<number>()
  for (let round = 0; round < rounds; round++) {
    const child = startChild(SCRIPT, [folder, `${round * share}`, `${share}`])
    expect(await child.line()).toBe('ready')
    // Killed after a different number of acknowledgements each time, always amid the work.
    for (let seen = 0; seen < 1 + ((round * 7) % (share - 1)); seen++) {
      safe.add(Number((await child.line()).replace('safe ', '')))
    }
    await child.kill('SIGKILL')
  }

  const store = sqlite({ path: `${folder}/headgate.db` })
  const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
  const queue = await openCaptureQueue({
    path: `${folder}/queue`,
    spending,
    clock: () => instant(1),
  })
  await queue.drained()
  const spent = (await spending.standing({ from: '0xa1' })).total?.spent ?? 0n
  await queue.close()
  await store.close()

  const booked = Array.from({ length: EXPENSES }, (_, i) => Number((spent >> BigInt(2 * i)) & 3n))
  expect(booked.every((often) => often <= 1)).toBe(true)
  expect([...safe].filter((i) => booked[i] !== 1)).toEqual([])
  expect(safe.size).toBeGreaterThan(rounds)
})

test('on a full disk an expense is refused, leaves nothing behind, and the next small one fits', async () => {
  const path = scratchFile('queue')
  // Blocks of 1 KiB: the second group does not fit, and part of it is written before that is known.
  const limited = [
    '-c',
    'ulimit -f 8; exec "$0" "$@"',
    process.execPath,
    `${ROOT}${FULL_DISK}`,
    path,
  ]
  const { stdout } = await promisify(execFile)('bash', limited)
  const refused = ['d', 'eeeeeeeeeeeeeeeeeeee', 'ffffffffffffffffffff']
  expect(stdout.trim().split('\n')).toEqual([
    ...['a', 'b', 'c'].map((item) => `accepted ${item}`),
    ...refused.map((item) => `QUEUE_UNAVAILABLE ${item}`),
    'accepted g',
  ])

  const delivered: string[] = []
  const queue = await openDiskQueue({
    path,
    deliver: async (item) => delivered.push(item),
    isFinal: () => false,
    clock: () => instant(1),
  })
  await queue.drained()
  expect(delivered.sort()).toEqual(['a', 'b', 'c', 'g'])
  expect(queue.status().damaged).toBe(0)
  await queue.close()
})
