/** The types that every door exports beside its gate. */
export type { Answer } from '../requests/limiter/charge.ts'
export type { ProxyOptions } from './client.ts'
export type { HeaderForm } from './header-forms.ts'
export type {
  GateOptions,
  HandlerOutcome,
  InlineLimit,
  NamedLimit,
  RequestCost,
} from './options.ts'
export type { RefusalOptions, RefusedRequest } from './refusal.ts'
export type { GateWarning, GateWarningCode, WarningSink } from './warnings.ts'
export type { CallerId, Who } from './who.ts'
