/** Known paths answer 405 to methods they do not have, and say which they have. */
import type { App } from './context.ts'
import { httpMistake } from './mistake.ts'

/** CONNECT, TRACE and the verbs of WebDAV get 404: nobody sends them by mistake. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Call before any route is added; what it answers, call after the last. */
export const collectMethods = (app: App): (() => void) => {
  const byPath = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = byPath.get(url) ?? new Set()
    for (const one of Array.isArray(method) ? method : [method]) methods.add(one)
    byPath.set(url, methods)
  })
  return () => {
    for (const [path, known] of [...byPath]) refuseOthers(app, path, known)
  }
}

function refuseOthers(app: App, url: string, known: ReadonlySet<string>): void {
  const allow = [...known].sort().join(', ')
  app.route({
    method: METHODS.filter((method) => !known.has(method)),
    url,
    schema: { hide: true },
    // Before the body is read: what it holds does not matter.
    onRequest: async ({ method }, reply) => {
      reply.header('Allow', allow)
      const rule = `takes ${allow}`
      throw httpMistake({ code: 'METHOD_NOT_ALLOWED', thing: url, rule, finding: method })
    },
    handler: async () => undefined,
  })
}
