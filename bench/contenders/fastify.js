/** Fastify with one route that decides nothing, in a process of its own. */
import { fileURLToPath } from 'node:url'
import { startServer } from '../daemon.js'

const ROUTE = fileURLToPath(new URL('bare-route.js', import.meta.url))

export const startFastify = () => startServer(process.execPath, ({ port }) => [ROUTE, String(port)])
