/** A signer from its first word to its last: opened, announced, ended by a signal. */
import { listen } from '../server/listen.ts'
import { createLogger, type Logger } from '../server/logger.ts'
import { type OpenSigner, openSigner } from '../server/odis/open-signer.ts'
import { readSignerSettings } from '../server/odis/signer-options.ts'
import { createSignerServer } from '../server/odis/signer-server.ts'
import { VERSION } from '../server/version.ts'
import type { Call } from './command.ts'
import { settingsFlags } from './common-flags.ts'
import { odisFlags } from './odis-flags.ts'
import { endingSignal } from './signals.ts'
import { table, writeJson } from './terminal.ts'

export const runSigner = async ({ flags, environment, terminal }: Call): Promise<void> => {
  const settings = readSignerSettings({
    flags: settingsFlags(flags),
    odis: odisFlags(flags),
    environment,
    allowSingleKey: flags.has('allow-single-key'),
    allowMemory: flags.has('allow-memory-store'),
  })
  const log = createLogger(settings.logLevel)
  const opened = await openSigner(settings, log)
  try {
    await serveUntilSignal(opened, log, { flags, terminal })
  } finally {
    await opened.close()
  }
}

async function serveUntilSignal(
  opened: OpenSigner,
  log: Logger,
  { flags, terminal }: Pick<Call, 'flags' | 'terminal'>,
): Promise<void> {
  // From here on, not from the announcement: whoever reads that may signal at once.
  const ending = endingSignal()
  const server = createSignerServer(opened, log)
  try {
    const url = await listen(server, opened.settings)
    if (flags.has('json')) writeJson(terminal, announcement(opened, url))
    else terminal.out(describe(opened, url))
    const signal = await ending
    if (!flags.has('json')) terminal.out(`${signal}: finishing what was accepted`)
  } finally {
    await server.close()
  }
}

const announcement = ({ settings, keys }: OpenSigner, url: string) => ({
  version: VERSION,
  url,
  store: settings.store,
  conduct: settings.conduct,
  engine: settings.engine,
  currentKey: keys.current,
  keys: keys.notices,
})

function describe({ settings, keys }: OpenSigner, url: string): string {
  const rows = [
    ...keys.notices.map(({ version, kind, publicKey }) => [
      `  key ${version}`,
      `${kind}${version === keys.current ? ', current' : ''}, public key ${publicKey}`,
    ]),
    ['  conduct', settings.conduct],
    ['  engine', settings.engine],
    ['  store', settings.store],
    ['  listens', url],
  ]
  return [`headgate ${VERSION}, signer`, table(rows)].join('\n')
}
