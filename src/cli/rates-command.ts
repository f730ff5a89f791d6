/** What the commands about rates have in common: one invocation, asked and told. */
import type { ClientResult, RatesClient } from '../subjects/index.ts'
import type { Call, Command, ExitCode, Flag } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, SERVER_FLAG } from './common-flags.ts'
import { withRates } from './rates-client.ts'
import { writeJson } from './terminal.ts'
import { KEY_FLAG, PROOF_FLAG } from './ucan-key.ts'

/** What the service answered, before anyone has looked inside. */
export type Done = Readonly<Record<string, unknown>>

export interface RatesAct extends Pick<Command, 'name' | 'summary' | 'operands'> {
  readonly flags: readonly Flag[]
  ask(rates: RatesClient, call: Call): Promise<ClientResult>
  describe(done: Done, call: Call): string
}

export const ratesCommand = ({ ask, describe, ...command }: RatesAct): Command => ({
  ...command,
  flags: [...command.flags, KEY_FLAG, PROOF_FLAG, SERVER_FLAG, ...LOCAL_FLAGS, JSON_FLAG],
  run: async (call) => {
    const result = await withRates(call, (rates) => ask(rates, call))
    return result.error === undefined
      ? tellDone(call, result.ok, describe)
      : tellRefusal(call, result.error)
  },
})

function tellDone(call: Call, done: Done, describe: RatesAct['describe']): ExitCode {
  if (call.flags.has('json')) writeJson(call.terminal, done)
  else call.terminal.out(describe(done, call))
  return 0
}

/** The caller's mistakes and the service's troubles; whatever else it says is a refusal. */
const ERRORS = ['MalformedCapability', 'HandlerExecutionError']

/** By the names that go over the wire: each has a row in docs/guide/subjects.md. */
function tellRefusal(call: Call, error: NonNullable<ClientResult['error']>): ExitCode {
  const isError = ERRORS.includes(error.name)
  if (call.flags.has('json')) writeJson(call.terminal, { error })
  else call.terminal.err(`${isError ? 'error' : 'refused'} ${error.name}: ${error.message}`)
  return isError ? 1 : 2
}
