/**
 * The door for the command line: the operations of the API, typed by its schemas, and the tables of
 * settings. Loads nothing but Node and files of ours; what opens a store is behind `local.ts`.
 */
export {
  type Api,
  type ApiInput,
  type ApiOperation,
  type ApiOutput,
  ENDPOINTS,
  type OpenApi,
  type RequestOperation,
  type SpendingOperation,
  type SubjectOperation,
} from './app/endpoints.ts'
export { VERSION } from './app/version.ts'
export { refuseUnknownVariables } from './config/known-variables.ts'
export type { LintFinding } from './config/lint.ts'
export { type FlagTexts, SERVER_SETTINGS } from './config/settings.ts'
export { describeStoreUrl, parseStoreUrl } from './config/store-url.ts'
export { SCOPES, type Scope, TOKEN_NAME, TOKEN_NAME_RULE } from './config/tokens.ts'
export { SIGNER_SETTINGS } from './secrets/config.ts'
export { UCAN_KEY_VARIABLE } from './subjects/config.ts'
