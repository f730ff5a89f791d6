import { StoreError } from '../../src/core/errors.ts'
import type { Store } from '../../src/core/store.ts'
import type { Door, ForwardedTrust } from '../../src/middleware/door.ts'
import type { GateWarning } from '../../src/middleware/warnings.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/index.ts'

/** A request as a gate sees it, without a framework. */
export interface PlainRequest {
  readonly ip?: string | undefined
  readonly peer?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly trust?: ForwardedTrust
  readonly user?: unknown
}

export const plainDoor: Door<PlainRequest> = {
  name: 'plainGate',
  header: ({ headers }, name) => headers?.[name],
  address: ({ ip }) => ip,
  peer: ({ peer }) => peer,
  trust: ({ trust = 'none' }) => trust,
  user: ({ user }) => user,
}

/** A store in memory with a clock to turn, and a place for warnings. */
export const gateScene = () => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  const warnings: GateWarning[] = []
  return {
    clock,
    store: memory({ clock }),
    warnings,
    warn: (warning: GateWarning): void => {
      warnings.push(warning)
    },
    codes: () => warnings.map(({ code }) => code),
  }
}

/** Every call fails, as if the other end were gone. */
export const downStore = (): Store => ({
  ...memory(),
  transact: () => Promise.reject(new StoreError(GONE)),
})

const GONE = {
  code: 'STORE_UNAVAILABLE',
  thing: 'the store',
  rule: 'must answer',
} as const
