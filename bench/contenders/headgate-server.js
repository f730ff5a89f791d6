/** `headgate serve` with one limit that nobody reaches. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startDaemon } from '../daemon.js'
import { scratchFolder } from '../scratch-folder.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

const CONFIG = `
logLevel: warn
limits: { bench: { id: opaque, burst: 1000000, count: 1, period: 1h } }
`

/** `storeFor` is told a folder and answers with the address of the store. */
export const startHeadgate = async (storeFor) => {
  const folder = scratchFolder()
  const port = await freePort()
  const config = join(folder.path, 'headgate.yml')
  writeFileSync(config, CONFIG)
  const url = `http://127.0.0.1:${port}`
  const store = storeFor(folder.path)
  const args = [MAIN, 'serve', '--port', String(port), '--store', store, '--config', config]
  const daemon = await startDaemon(process.execPath, args, `${url}/readyz`)
  return {
    url,
    folder: folder.path,
    stop: async () => {
      await daemon.stop()
      folder.remove()
    },
  }
}
