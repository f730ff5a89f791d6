/** A server from its first word to its last: opened, announced, ended by a signal. */
import type { Headgate } from '../server/headgate.ts'
import { createHttpServer } from '../server/http/server.ts'
import { listen } from '../server/listen.ts'
import { createLogger, type Logger } from '../server/logger.ts'
import { openHeadgate } from '../server/open-headgate.ts'
import type { Call } from './command.ts'
import { settingsFlags } from './common-flags.ts'
import { describeServing, serving } from './serving.ts'
import { endingSignal, onReloadSignal } from './signals.ts'
import { writeJson } from './terminal.ts'

export const runServer = async (call: Call): Promise<void> => {
  const log = createLogger()
  const headgate = await openHeadgate({
    flags: settingsFlags(call.flags),
    environment: call.environment,
    serving: true,
    log,
  })
  log.level = headgate.settings.logLevel
  try {
    await serveUntilSignal(headgate, log, call)
  } finally {
    await headgate.close()
  }
}

async function serveUntilSignal(headgate: Headgate, logger: Logger, call: Call): Promise<void> {
  const { flags, terminal } = call
  // The catalog tells the log what came of it.
  onReloadSignal(() => headgate.catalog.reload().catch(() => {}))
  // From here on, not from the announcement: whoever reads that may signal at once.
  const ending = endingSignal()
  const server = createHttpServer(headgate, { logger })
  try {
    const url = await listen(server, headgate.settings)
    const facts = serving(headgate, url)
    if (flags.has('json')) writeJson(terminal, facts)
    else terminal.out(describeServing(facts))
    const signal = await ending
    if (!flags.has('json')) terminal.out(`${signal}: finishing what was accepted`)
  } finally {
    await server.close()
  }
}
