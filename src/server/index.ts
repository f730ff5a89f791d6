/** The door `headgate-server`: Headgate put together from its configuration, and its HTTP face. */

export { type Listener, listen } from './app/access.ts'
export {
  type CatalogSource,
  type CatalogStatus,
  type Headgate,
  type HeadgateOptions,
  openHeadgate,
} from './app/headgate.ts'
export { createHttpServer, type HttpOptions } from './app/http-server.ts'
export type { Log } from './app/log.ts'
export { createLogger } from './app/logger.ts'
export type { Metrics, ReloadOutcome } from './app/metrics.ts'
export type { ConfigErrorCode } from './config/config-mistake.ts'
export type { ConfigSources } from './config/configuration.ts'
export type { FlagTexts, LogLevel, Settings } from './config/settings.ts'
export type { Scope, TokenRecord } from './config/tokens.ts'
export type { SpendingService } from './spending/open.ts'
