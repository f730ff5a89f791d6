/** `headgate serve` with one limit that nobody reaches. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../daemon.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

const CONFIG = `
logLevel: warn
limits: { bench: { id: opaque, burst: 1000000, count: 1, period: 1h } }
`

/** `storeFor` is told a folder and answers with the address of the store; `more` is YAML. */
export const startHeadgate = (storeFor, more = '') => {
  const argsFor = ({ folder, port }) => {
    const config = join(folder, 'headgate.yml')
    writeFileSync(config, CONFIG + more)
    const store = storeFor(folder)
    return [MAIN, 'serve', '--port', String(port), '--store', store, '--config', config]
  }
  return startServer(process.execPath, argsFor, '/readyz')
}
