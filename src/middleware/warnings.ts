/** What is probably wrong with the set-up around a gate: coded, logged once, never thrown. */
import { HeadgateError, type Mistake } from '../core/errors.ts'

export type GateWarningCode =
  | 'CLIENT_ADDRESS_UNKNOWN'
  | 'CLIENT_ADDRESS_SHARED'
  | 'PROXY_UNTRUSTED'
  | 'PROXY_TRUSTS_ALL'
  | 'FORWARDED_IGNORED'
  | 'USER_WITHOUT_ID'
  | 'REFUND_FAILED'

/** Its message names the thing, the rule and what was found. */
export type GateWarning = HeadgateError<GateWarningCode>

export type WarningSink = (warning: GateWarning) => void

export interface Warnings {
  /** False once the code was logged: then there is no need to look again. */
  isNew(code: GateWarningCode): boolean
  tell(mistake: Mistake<GateWarningCode>, cause?: unknown): void
}

/** Each code goes to each sink once, whatever number of gates shares it: by default once a process. */
export const createWarnings = (sink: WarningSink = toConsole): Warnings => {
  const told = toldTo(sink)
  return {
    isNew: (code) => !told.has(code),
    tell: (mistake, cause) => {
      if (told.has(mistake.code)) return
      told.add(mistake.code)
      try {
        sink(new HeadgateError(mistake, cause === undefined ? undefined : { cause }))
      } catch {
        // A log that fails must not end the request that it was to tell of.
      }
    },
  }
}

const toldBySink = new WeakMap<WarningSink, Set<GateWarningCode>>()

function toldTo(sink: WarningSink): Set<GateWarningCode> {
  const told = toldBySink.get(sink) ?? new Set<GateWarningCode>()
  toldBySink.set(sink, told)
  return told
}

const toConsole: WarningSink = ({ code, message }) => {
  const page = `docs/reference/errors.md#${code.toLowerCase()}`
  // biome-ignore lint/suspicious/noConsole: there is no other log in every runtime; `warn` replaces it
  console.warn(`headgate: warning ${code}: ${message} (${page})`)
}
