/**
 * The UCAN endpoint: a CAR with invocations comes in, a CAR with signed receipts goes out.
 *
 * ucanto's validator decides about rights. Its server loop is not used: it finds handlers through
 * inherited properties, trusts the names that blocks come under, searches proofs without end, and
 * signs receipts where no transaction can keep them.
 */
import type { Store } from '../../core/index.ts'
import { createShelf } from './blocks.ts'
import { execute, type ServiceContext } from './execute.ts'
import { type Identity, signerOf } from './identity.ts'
import { readMessage, reportReceipts } from './message.ts'
import { createVerifiers } from './verifiers.ts'

export interface UcanRequest {
  readonly method: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
}

export interface UcanResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface UcanService {
  readonly did: string
  handle(request: UcanRequest): Promise<UcanResponse>
}

export interface UcanServiceOptions {
  readonly store: Store
  /** The provider: rates are kept under its DID, and every right over them begins with it. */
  readonly identity: Identity
  /** Told of every signature that is checked, and of every failure of the store. Must not throw. */
  readonly observe?: (event: UcanEvent) => void
}

export type UcanEvent =
  | { readonly kind: 'signature-check' }
  | { readonly kind: 'store-failure'; readonly error: unknown }

export const CAR_TYPE = 'application/vnd.ipld.car'

/** A batch of thirty invocations with their proofs takes some 40 kB. */
export const MAX_BODY_BYTES = 131_072

/** Invocations of one message: they run at the same time. */
export const MAX_INVOCATIONS = 32

export const createUcanService = (options: UcanServiceOptions): UcanService => {
  const { store, identity, observe = () => {} } = options
  const verifiers = createVerifiers({ onCheck: () => observe({ kind: 'signature-check' }) })
  const shelf = createShelf()
  const context: ServiceContext = {
    store,
    identity,
    verifiers,
    signer: signerOf(identity, verifiers),
    onFailure: (error) => observe({ kind: 'store-failure', error }),
  }
  return {
    did: identity.did,
    handle: async ({ method, headers, body }) => {
      if (method !== 'POST') return plain(405, 'this endpoint takes POST', { allow: 'POST' })
      if (headers['content-type'] !== CAR_TYPE) {
        return plain(415, `the content-type must be ${CAR_TYPE}`, { accept: CAR_TYPE })
      }
      if (!takesCar(headers['accept'])) return plain(406, `the answer is ${CAR_TYPE}`)
      if (body.length > MAX_BODY_BYTES) {
        return plain(413, `the body must have at most ${MAX_BODY_BYTES} bytes`)
      }
      // A plain array of its own: Node's buffers share memory that ucanto reads past the end of.
      const archive = shelf.read(Uint8Array.from(body))
      if ('broken' in archive) return plain(400, archive.broken)
      const links = readMessage(archive.root)
      if (links === undefined) return plain(400, 'the root must be a ucanto/message@7.0.0')
      const asked = new Map(links.map((link) => [`${link}`, link]))
      if (asked.size > MAX_INVOCATIONS) {
        return plain(400, `a message may hold at most ${MAX_INVOCATIONS} invocations`)
      }
      const receipts = await Promise.all(
        [...asked].map(async ([cid, link]) => {
          const receipt = await execute(context, { link, blocks: archive.blocks })
          return [cid, receipt] as const
        }),
      )
      const report = reportReceipts(new Map(receipts))
      return { status: 200, headers: { 'content-type': CAR_TYPE }, body: report }
    },
  }
}

/** Absent means anything. Weights do not matter: there is one form. */
function takesCar(accept: string | readonly string[] | undefined): boolean {
  if (accept === undefined || accept === CAR_TYPE) return true
  const ranges = [accept].flat().join(',').split(',')
  const types = ranges.map((range) => range.split(';', 1).join('').trim().toLowerCase())
  return types.some((type) => type === '*/*' || type === 'application/*' || type === CAR_TYPE)
}

function plain(status: number, text: string, headers: Record<string, string> = {}): UcanResponse {
  const type = { 'content-type': 'text/plain; charset=utf-8' }
  return { status, headers: { ...type, ...headers }, body: new TextEncoder().encode(`${text}\n`) }
}
