/**
 * How much one message may cost before anything shows that its sender has a right. Anyone may send one:
 * work is counted while it is done, and what exceeds the budget of the message is refused.
 */

/** What a message costs. Each is counted for the whole message, however many invocations it holds. */
export interface UcanWork {
  /** Bytes that were hashed: every block, and the signed text of every token that was verified. */
  readonly hashed: number
  /** Values in all blocks, as CBOR counts them: a map, each of its keys, each of its entries. */
  readonly nodes: number
  /** Values of delegated capabilities that were compared with what is claimed. */
  readonly compared: number
  /** Signatures that were checked. */
  readonly verified: number
  /** Pages of rates or of the history that were read: only by who has the right to. */
  readonly pages: number
}

/**
 * A message of 32 invocations, each with a delegation of its own, fits. A stranger's dearest message costs
 * what twenty invocations with a right cost, most of it for signatures (`npm run bench -- ucan`).
 */
export const MAX_UCAN_WORK: UcanWork = {
  hashed: 524_288,
  nodes: 16_384,
  compared: 16_384,
  verified: 64,
  pages: 4,
}

export interface WorkMeter {
  /** Before the work is done. Throws `WorkExceeded` if the budget has no room for it. */
  spend(kind: keyof UcanWork, amount: number): void
  spent(): UcanWork
}

/** Ends one invocation, and those of the same message that need more work. Never leaves the service. */
export class WorkExceeded extends Error {
  constructor(kind: keyof UcanWork) {
    super(`a message may cost at most ${MAX_UCAN_WORK[kind]} ${UNITS[kind]}`)
    this.name = 'WorkExceeded'
  }
}

const UNITS: Readonly<Record<keyof UcanWork, string>> = {
  hashed: 'hashed bytes',
  nodes: 'values',
  compared: 'compared values',
  verified: 'signature checks',
  pages: 'pages',
}

export const createWorkMeter = (): WorkMeter => {
  const work = { hashed: 0, nodes: 0, compared: 0, verified: 0, pages: 0 }
  return {
    spend: (kind, amount) => {
      if (work[kind] + amount > MAX_UCAN_WORK[kind]) throw new WorkExceeded(kind)
      work[kind] += amount
    },
    spent: () => ({ ...work }),
  }
}
