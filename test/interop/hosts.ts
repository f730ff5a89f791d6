/** Where the service that the published clients ask may live. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory } from '../../src/stores/memory/index.ts'
import { createUcanService, type Identity } from '../../src/subjects/index.ts'
import { listen } from '../support/http-service.ts'
import { serve } from '../support/serve.ts'

export interface Host {
  readonly url: string
  close(): void | Promise<void>
}

export const HOSTS = ['the service alone', 'headgate serve'] as const

export const openHost = (kind: (typeof HOSTS)[number], identity: Identity): Promise<Host> =>
  kind === 'headgate serve'
    ? serveIdentity(identity)
    : listen(createUcanService({ store: memory(), identity }))

/** A real server as a process of its own. */
async function serveIdentity({ did, keyDid, secret }: Identity): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-'))
  const config = join(folder, 'headgate.yml')
  const identity = did === keyDid ? 'did:key' : did
  writeFileSync(join(folder, 'ucan.key'), secret, { mode: 0o600 })
  writeFileSync(config, `subjects: { identity: "${identity}", keyFile: ucan.key }\n`)
  const { url, child } = await serve(['--config', config, '--store', 'memory:'])
  return {
    url: `${url}/ucan`,
    close: async () => {
      await child.kill('SIGTERM')
      rmSync(folder, { recursive: true })
    },
  }
}
