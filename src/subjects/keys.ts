/** Where subjects keep what they know. All of one provider shares a partition: the braces say so to Redis Cluster. */
import type { Key } from '../core/index.ts'

/** All rates of the subjects that have one normal form. */
export const subjectKey = (provider: string, form: string): Key =>
  `${root(provider)}/subject/${form}`

/** The normal form of the subject that the rate of this id is for. */
export const idKey = (provider: string, id: string): Key => `${root(provider)}/id/${id}`

/** The receipt of an invocation, by what was signed. */
export const receiptKey = (provider: string, fingerprint: string): Key =>
  `${root(provider)}/receipt/${fingerprint}`

/** Who revoked a delegation, by what was signed. */
export const revocationKey = (provider: string, fingerprint: string): Key =>
  `${root(provider)}/revoked/${fingerprint}`

/** The index that lists the subject keys, and the stream of all changes. */
export const subjectIndex = (provider: string): string => `${root(provider)}/subjects`
export const changeStream = (provider: string): string => `${root(provider)}/changes`

const root = (provider: string): string => `subjects/{${provider}}`
