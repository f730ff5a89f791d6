/**
 * One invocation, from its block to its receipt.
 *
 * The right is shown first, outside the store; then one transaction looks once more whether anything
 * of the chain was revoked or has expired, does what was asked, and keeps the receipt.
 */
import type { Block, Link } from '@ucanto/interface'
import {
  answer,
  HeadgateError,
  type Plan,
  type Store,
  StoreError,
  type View,
} from '../../core/index.ts'
import { receiptKey } from '../keys.ts'
import { quote } from '../mistake.ts'
import { type Authority, authorise, type Claimed } from './authorise.ts'
import type { Blocks } from './blocks.ts'
import { DEFINITIONS, isAbility, WHOLE_NAMESPACE } from './capabilities.ts'
import { type Command, readCommand } from './commands.ts'
import type { Identity } from './identity.ts'
import { lifetimeFault } from './lifetime.ts'
import { type Attempt, changeOnce } from './once.ts'
import { readProofTree } from './proof-tree.ts'
import { issueReceipt, type Out } from './receipt.ts'
import { readRevocationTarget } from './revocation-target.ts'
import { findRevoked, revocationKeys } from './revocations.ts'
import type { Token } from './token.ts'

export interface ServiceContext extends Authority {
  readonly store: Store
  readonly identity: Identity
  readonly onFailure: (error: unknown) => void
}

export interface Invoked {
  readonly link: Link
  readonly blocks: Blocks
}

export const execute = async (context: ServiceContext, invoked: Invoked): Promise<Block> => {
  const receipt = (out: Out) => issueReceipt(context.identity, invoked.link, out)
  try {
    const prepared = await prepare(context, invoked)
    return 'error' in prepared ? receipt(prepared) : await perform(context, invoked, prepared)
  } catch (error) {
    if (error instanceof StoreError) {
      context.onFailure(error)
      return receipt(no('HandlerExecutionError', 'the store is unavailable; asking again is safe'))
    }
    if (error instanceof HeadgateError) return receipt(no('MalformedCapability', error.message))
    throw error
  }
}

interface Prepared {
  readonly claimed: Claimed
  readonly command: Command
}

/** All that can be said before the right is shown, and without the store. */
async function prepare(
  { identity, verifiers }: ServiceContext,
  { link, blocks }: Invoked,
): Promise<Prepared | { readonly error: { readonly name: string; readonly message: string } }> {
  const tree = readProofTree(link, blocks, identity.did)
  if ('broken' in tree) return no('Unauthorized', `invocation ${link}: ${tree.broken}`)
  const [capability, ...others] = tree.root.capabilities
  if (capability === undefined || others.length > 0) {
    return no('InvocationCapabilityError', 'an invocation must name exactly one capability')
  }
  const { can } = capability
  const definition = DEFINITIONS.get(can)
  if (definition === undefined || !isAbility(can)) {
    const hint = can === WHOLE_NAMESPACE ? '; it can be delegated, but not invoked' : ''
    return no('HandlerNotFound', `this service has no ability ${quote(can)}${hint}`)
  }
  if (tree.root.audience !== identity.did) {
    const message = `the audience must be ${identity.did}, found ${tree.root.audience}`
    return no('InvalidAudience', message)
  }
  // Anyone may issue any right over a DID of their own; it is no right over this service.
  if (can !== 'ucan/revoke' && capability.with !== identity.did) {
    const message = `with must be this service, ${identity.did}, found ${capability.with}`
    return no('Unauthorized', message)
  }
  const target =
    can === 'ucan/revoke'
      ? await readRevocationTarget(capability, blocks, identity, verifiers)
      : undefined
  const command = readCommand({ ability: can, capability, token: tree.root, target })
  return { claimed: { link, blocks, tree, definition }, command }
}

/** Again with another path each time the store knows a revoked token on the one that was found: one token fewer a turn. */
async function perform(
  context: ServiceContext,
  { link }: Invoked,
  { claimed, command }: Prepared,
): Promise<Block> {
  const { store, identity } = context
  const revoked = new Set<string>()
  for (;;) {
    const right = await authorise(claimed, context, revoked)
    if (right.error) return issueReceipt(identity, link, { error: right.error })
    const attempt = { identity, chain: right.ok, link }
    const guess = [
      ...revocationKeys(identity.did, right.ok),
      ...(command.kind === 'change' ? [receiptKey(identity.did, right.ok[0].fingerprint)] : []),
    ]
    const found = await store.transact((view) => decide(view, attempt, command), guess)
    if ('receipt' in found) return found.receipt
    if ('page' in found) return issueReceipt(identity, link, await found.page(store))
    revoked.add(found.revoked.cid)
  }
}

type Finding =
  | { readonly receipt: Block }
  | { readonly revoked: Token }
  | { readonly page: (store: Store) => Promise<Out> }

/** The step: nothing can be revoked or expire between the look and the deed. */
function decide(view: View, attempt: Attempt, command: Command): Plan<Finding> {
  const { identity, chain, link } = attempt
  const gone = findRevoked(view, identity.did, chain)
  if (gone !== undefined) return answer({ revoked: gone })
  const late = lifetimeFault(chain, view.now)
  if (late !== undefined) {
    return answer({ receipt: issueReceipt(identity, link, no('Unauthorized', late)) })
  }
  switch (command.kind) {
    case 'look':
      return answer({ receipt: issueReceipt(identity, link, command.run(view, identity.did)) })
    case 'page': {
      const { now } = view
      return answer({ page: (store) => command.run(store, identity.did, now) })
    }
    case 'change':
      return changeOnce(view, attempt, command)
    default:
      return command satisfies never
  }
}

const no = (name: string, message: string) => ({ error: { name, message } })
