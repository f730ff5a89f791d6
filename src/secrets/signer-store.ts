/** Where a signer may keep its domains: a store that forgets at a restart gives every attempt back. */
import { refuseSecret } from './secrets-mistake.ts'

/** By the store's URL. `forTests` takes even memory. */
export const checkSignerStore = (url: string, { forTests = false } = {}): void => {
  if (forTests || !url.startsWith('memory:')) return
  const rule = 'must outlive a restart, as attempts that are forgotten could be made again'
  refuseSecret({ code: 'SIGNER_STORE_VOLATILE', thing: "the signer's store", rule, finding: url })
}
