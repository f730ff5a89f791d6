/** Which stores a signer takes, and how to know one that it has used. */
import { answer, type Store } from '../../core/store.ts'
import { refuseSecret } from '../mistake.ts'
import { readAudit } from './audit.ts'
import { clockKey } from './clock-record.ts'
import { shardGroups } from './shards.ts'

/** Refuses a store, by its URL, that forgets at a restart and so gives every attempt back. `forTests` takes even memory. */
export const checkSignerStore = (url: string, { forTests = false } = {}): void => {
  if (forTests || !url.startsWith('memory:')) return
  const rule = 'must outlive a restart, as attempts that are forgotten could be made again'
  refuseSecret({ code: 'SIGNER_STORE_VOLATILE', thing: "the signer's store", rule, finding: url })
}

/**
 * Whether a signer has used the store: it recorded its clock, as it does when it starts, or noted an
 * act. Reads names that are known, and searches for none.
 */
export const isSignerStore = async (store: Store): Promise<boolean> => {
  const clocks = await Promise.all(
    shardGroups(store).map((shards) => {
      const keys = shards.map(clockKey)
      return store.transact((view) => answer(view.read(...keys)), keys, 'look')
    }),
  )
  if (clocks.flat().some((value) => value !== undefined)) return true
  return (await readAudit(store, '', 1)).entries.length > 0
}
