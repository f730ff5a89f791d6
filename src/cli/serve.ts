/** `headgate serve`: the HTTP server, until a signal ends it. */
import type { Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS } from './common-flags.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'Answer over HTTP. SIGHUP reloads the configuration, SIGTERM ends it gracefully.',
  operands: [],
  flags: [
    { name: 'host', value: 'HOST', summary: 'Where to listen; 127.0.0.1. Others need a token.' },
    { name: 'port', value: 'PORT', summary: 'Where to listen; 8080. 0 takes any that is free.' },
    ...LOCAL_FLAGS,
    { name: 'log-level', value: 'LEVEL', summary: 'fatal, error, warn, info, debug or silent.' },
    JSON_FLAG,
  ],
  run: async (call) => {
    // Only now: the HTTP server takes longer to load than most commands take in all.
    const { runServer } = await import('./run-server.ts')
    await runServer(call)
    return 0
  },
}
