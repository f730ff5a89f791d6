/** As much of the apps as the tests use. The frameworks are there only once the tests have installed them. */
export interface Listening {
  readonly url: string
  close(): void | Promise<void>
}

export interface AppSettings {
  readonly trust?: 'one' | 'any'
}

export const APPS: Readonly<
  Record<
    'express' | 'fastify' | 'hono' | 'koa' | 'fetch',
    (gate: unknown, settings?: AppSettings) => Promise<Listening>
  >
>
