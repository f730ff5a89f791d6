/** The stream of what a signer did: each charged attempt and each disabled domain, and no secret of either. */
import { type Append, type Instant, instant, type Store, type Value } from '../core/index.ts'

/** Blinded messages, signatures, evaluations and session ids never come here. */
export interface AuditEvent {
  readonly event: 'signed' | 'disabled'
  /** Where the record is kept, which names the domain by its hash. */
  readonly record: string
  readonly keyVersion?: number
}

export interface AuditEntry extends AuditEvent {
  /** Grows, and is never used again. */
  readonly position: number
  readonly at: Instant
}

export interface AuditPage {
  /** Oldest first. */
  readonly entries: readonly AuditEntry[]
  /** The `after` of the next page. Absent: this was the last. */
  readonly next?: number
}

export const AUDIT_STREAM = 'secrets/audit'

export const audit = (at: Instant, event: AuditEvent): Append => ({
  stream: AUDIT_STREAM,
  entry: JSON.stringify({ at, ...event }),
})

/** What was written here, and is trusted. */
export const decodeAudit = (value: Value): Omit<AuditEntry, 'position'> => {
  const { at, ...event }: AuditEvent & { readonly at: number } = JSON.parse(value)
  return { ...event, at: instant(at) }
}

/** `after` is 0, or the `next` of a page before; `limit` is within what a store reads at once. */
export const readAudit = async (store: Store, after: number, limit: number): Promise<AuditPage> => {
  const found = await store.read(AUDIT_STREAM, after, limit + 1)
  const entries = found
    .slice(0, limit)
    .map(({ position, entry }) => ({ position, ...decodeAudit(entry) }))
  const last = found.length > limit ? entries.at(-1) : undefined
  return last === undefined ? { entries } : { entries, next: last.position }
}
