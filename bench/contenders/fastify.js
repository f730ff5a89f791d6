/** Fastify with one route that decides nothing, in a process of its own. */
import { fileURLToPath } from 'node:url'
import { freePort, startDaemon } from '../daemon.js'
import { scratchFolder } from '../scratch-folder.js'

const ROUTE = fileURLToPath(new URL('bare-route.js', import.meta.url))

export const startFastify = async () => {
  const folder = scratchFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const daemon = await startDaemon(process.execPath, [ROUTE, String(port)], url)
  return {
    url,
    folder: folder.path,
    stop: async () => {
      await daemon.stop()
      folder.remove()
    },
  }
}
