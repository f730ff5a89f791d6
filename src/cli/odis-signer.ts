/** `headgate odis signer`: a signer of the domain API, until a signal ends it. */
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { KEY_FLAGS } from './odis-flags.ts'

export const odisSigner: Command = {
  name: 'odis signer',
  summary: 'Harden secrets for clients or a combiner. SIGTERM ends it gracefully.',
  operands: [],
  flags: [
    { name: 'host', value: 'HOST', summary: 'Where to listen; 127.0.0.1.' },
    { name: 'port', value: 'PORT', summary: 'Where to listen; 8082. 0 takes any that is free.' },
    {
      name: 'store',
      value: 'URL',
      summary: 'A database of its own; sqlite:./headgate-signer.db. Not memory:.',
    },
    ...KEY_FLAGS,
    { name: 'current-key', value: 'N', summary: 'Answers where none is named; the highest.' },
    { name: 'conduct', value: 'WORD', summary: 'cip40, or celo as the deployed service answers.' },
    { name: 'engine', value: 'WORD', summary: 'wasm or typescript; both give the same bytes.' },
    { name: 'workers', value: 'N', summary: 'Threads that evaluate; as many as processors.' },
    { name: 'queue', value: 'N', summary: 'Evaluations that may wait for a thread; 64.' },
    { name: 'rpc-url', value: 'URL', summary: 'An Ethereum node, for smart contract domains.' },
    { name: 'phone-quota', value: 'N', summary: 'Attempts an account, for phone number domains.' },
    { name: 'limit-per-address', value: 'RATE', summary: '60/1m, or none. IPv6 counts by /64.' },
    { name: 'limit-in-all', value: 'RATE', summary: '1000/1s, or none.' },
    { name: 'trust-proxy', value: 'LIST', summary: 'Proxies whose X-Forwarded-For is believed.' },
    { name: 'audit-days', value: 'N', summary: 'How long audit entries are kept; 90, or forever.' },
    { name: 'log-level', value: 'LEVEL', summary: 'fatal, error, warn, info, debug or silent.' },
    { name: 'allow-single-key', summary: 'A single key on a host that others reach.' },
    { name: 'allow-memory-store', summary: 'For tests: forgets every attempt at its end.' },
    JSON_FLAG,
  ],
  run: async (call) => {
    const { runSigner } = await import('./run-signer.ts')
    await runSigner(call)
    return 0
  },
}
