/** The stream of what a signer did: each charged attempt and each disabled domain, and no secret of either. */
import type { Append, Instant } from '../core/index.ts'

/** Blinded messages, signatures, evaluations and session ids never come here. */
export interface AuditEvent {
  readonly event: 'signed' | 'disabled'
  /** Where the record is kept, which names the domain by its hash. */
  readonly record: string
  readonly keyVersion?: number
}

export const AUDIT_STREAM = 'secrets/audit'

export const audit = (at: Instant, event: AuditEvent): Append => ({
  stream: AUDIT_STREAM,
  entry: JSON.stringify({ at, ...event }),
})
