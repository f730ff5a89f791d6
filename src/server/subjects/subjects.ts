/** The part of Headgate that administers subjects: what the faces need of it. */
import type { Identity, Rates, SubjectGate, UcanService } from '../../subjects/index.ts'

export interface Subjects {
  /** Who the service is. Holds its secret: never to be logged or answered. */
  readonly identity: Identity
  /** What stands before every charge; follows the changes of all nodes. */
  readonly gate: SubjectGate
  /** What `POST /ucan` speaks. */
  readonly service: UcanService
  /** For questions by people: the truth of the store, a round trip each. */
  readonly rates: Rates
  /** What `/.well-known/did.json` answers. */
  readonly document: object
  /** Whether changes have been heard within the last second. */
  isHeard(): boolean
  close(): void
}
