/** Where a server writes what it does; pino's shape, so that any of its kind will do. */
export interface Log {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** For commands that answer by themselves. */
export const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} }
