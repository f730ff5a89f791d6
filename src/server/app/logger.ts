/** The log of a server process: lines of JSON on standard error, apart from its answers. Loads pino. */
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from '../config/settings.ts'

export type { Logger } from 'pino'

const STANDARD_ERROR = 2

export const createLogger = (
  level: LogLevel = 'info',
  to: DestinationStream = pino.destination(STANDARD_ERROR),
): Logger => pino({ level }, to)
