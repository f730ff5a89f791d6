/** Who can reach a server: without a token, only this machine. */
import { refuseConfig } from './config-mistake.ts'
import { isLoopback } from './loopback.ts'
import type { Settings } from './settings.ts'

export const refuseOpenBinding = ({ host, tokens }: Pick<Settings, 'host' | 'tokens'>): void => {
  if (tokens.length > 0 || isLoopback(host)) return
  refuseConfig({
    code: 'TOKEN_REQUIRED',
    thing: `host ${host}`,
    rule: 'must be a loopback address while no tokens are configured; `headgate tokens new` makes one',
    finding: 'no tokens',
  })
}
