/** The contract suite on a real server, with the network in between. */
import { describe, test } from 'vitest'
import type { ServiceKind } from '../../scripts/services.js'
import { answer, type Store } from '../../src/core/store.ts'
import { days } from '../../src/core/time.ts'
import { COMMIT } from '../../src/stores/redis/scripts.ts'
import { storeContract } from '../../src/testing/index.ts'
import { openProxy } from './proxy.ts'
import { remotePlace } from './remote-stores.ts'

/** How a commit looks on its way: the script by its digest or its text, or the function by its name. */
const MARKS = [COMMIT.digest, 'kept_for_another', 'compare_and_set']

export const isCommit = (request: Buffer): boolean => MARKS.some((mark) => request.includes(mark))

/** Redis wants the text of the script: nothing was done. */
export const isRetry = (reply: Buffer): boolean => reply.includes('NOSCRIPT')

/** Steps of the suite set the clock on while other calls wait, and patience is measured by it. */
const ENDLESS = days(36_500)

export const runContractOn = async (
  kind: ServiceKind,
  skip: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const place = await remotePlace(kind)
  const cases = storeContract(
    async (settings) => {
      if (place === undefined) throw new Error('not run')
      await place.clear()
      const port = Number(place.url.match(/127\.0\.0\.1:(\d+)/)?.[1])
      const proxy = kind === 'cluster' ? undefined : await openProxy({ port, isCommit, isRetry })
      const opened: Store[] = []
      const open = (through = proxy?.port): Store => {
        // Cases move the uptime by hours, which no call spends waiting.
        const store = place.open({ patience: ENDLESS, ...settings }, through)
        opened.push(store)
        return store
      }
      const store = open()
      const suffer = (mode: 'break' | 'lose') => async (on: boolean) => {
        // Open before it suffers: what opens it is no commit, and fails as well.
        await untilWell(store)
        if (proxy !== undefined) proxy.mode = on ? mode : 'pass'
        await untilWell(store)
      }
      return {
        store,
        another: async () => open(),
        reopen: async () => open(),
        breakCommits: suffer('break'),
        loseReplies: suffer('lose'),
        dispose: async () => {
          await Promise.all(opened.map((one) => one.close()))
          await proxy?.close()
        },
      }
    },
    { skip },
  )
  describe.skipIf(place === undefined)('the store contract', () => {
    for (const { name, skipped, run } of cases) {
      test.skipIf(skipped !== undefined)(
        skipped === undefined ? name : `${name} (skipped: ${skipped})`,
        run,
      )
    }
  })
}

/** A line that was cut twice takes calls again after half a second. */
async function untilWell(store: Store): Promise<void> {
  for (;;) {
    try {
      await store.transact(() => answer(undefined), [], 'look')
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
