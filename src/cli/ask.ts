/** What `check`, `spend`, `refund` and `reset` have in common: one charge, asked and told. */
import { quote } from '../documents/index.ts'
import type { AskMode, LimiterVerb, Request } from '../requests/index.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call, Command, ExitCode, Flag } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, REMOTE_FLAGS } from './common-flags.ts'
import { describeAnswer } from './describe-answer.ts'
import { withGate } from './gate.ts'
import { writeJson } from './terminal.ts'

export const COST_FLAG: Flag = { name: 'cost', value: 'N', summary: 'Tokens; 1.' }

export const OPERATION_FLAG: Flag = {
  name: 'operation',
  value: 'ID',
  summary: 'The same id with the same question again changes nothing.',
}

export const MODE_FLAG: Flag = {
  name: 'mode',
  value: 'MODE',
  summary: 'spend, check (charge nothing) or try (charge if it fits); spend.',
}

export const SUBJECT_FLAG: Flag = {
  name: 'subject',
  value: 'SUBJECT',
  summary: 'Whom it concerns; refused if that is blocked.',
}

const MODES: readonly AskMode[] = ['spend', 'check', 'try']

export const askCommand = (
  verb: LimiterVerb,
  summary: string,
  flags: readonly Flag[],
): Command => ({
  name: verb,
  summary,
  operands: [{ name: 'LIMIT' }, { name: 'ID' }],
  flags: [...flags, ...LOCAL_FLAGS, ...REMOTE_FLAGS, JSON_FLAG],
  run: (call) => ask(verb, call),
})

export const ask = async (verb: LimiterVerb, call: Call): Promise<ExitCode> => {
  const request = toRequest(call)
  const answer = await withGate(call, (gate) => gate.ask(verb, request))
  if (call.flags.has('json')) writeJson(call.terminal, answer)
  else call.terminal.out(describeAnswer(verb, answer))
  return answer.allowed ? 0 : 2
}

function toRequest({ operands, flags }: Call): Request {
  const [limit, id] = operands
  const operationId = flags.text('operation')
  const operation = operationId === undefined ? {} : { operationId }
  if (limit === undefined || id === undefined) return operation
  const cost = flags.text('cost')
  const mode = flags.text('mode')
  const subject = flags.text('subject')
  return {
    limit,
    id,
    ...(cost !== undefined && { cost: readCost(cost) }),
    ...(mode !== undefined && { mode: readMode(mode) }),
    ...(subject !== undefined && { subjects: [subject] }),
    ...operation,
  }
}

function readCost(text: string): number {
  const cost = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(cost)) return cost
  return refuseValue('--cost', 'must be a whole number of at least 0', text)
}

function readMode(text: string): AskMode {
  const mode = MODES.find((candidate) => candidate === text)
  return mode ?? refuseValue('--mode', `must be one of ${MODES.join(', ')}`, text)
}

const refuseValue = (thing: string, rule: string, text: string): never =>
  refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule, finding: quote(text) })
