/** The log of a server: lines of JSON on standard error, so that answers and log can be told apart. */
import { type Logger, pino } from 'pino'
import type { LogLevel } from './settings.ts'

export type { Logger } from 'pino'

const STANDARD_ERROR = 2

export const createLogger = (level: LogLevel = 'info'): Logger =>
  pino({ level }, pino.destination(STANDARD_ERROR))
