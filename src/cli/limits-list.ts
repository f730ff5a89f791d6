/** `headgate limits list`: every known limit and its default rate. */
import type { LimitBody, RateBody } from './api.ts'
import type { Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, REMOTE_FLAGS } from './common-flags.ts'
import { withGate } from './gate.ts'
import { table, writeJson } from './terminal.ts'

export const limitsList: Command = {
  name: 'limits list',
  summary: 'Every known limit and its default rate.',
  operands: [],
  flags: [...LOCAL_FLAGS, ...REMOTE_FLAGS, JSON_FLAG],
  run: async (call) => {
    const limits = await withGate(call, (gate) => gate.limits())
    if (call.flags.has('json')) writeJson(call.terminal, { limits })
    else call.terminal.out(table([HEADINGS, ...limits.map(toRow)]))
    return 0
  },
}

/** `5 at once, 5 every 1m0s`. */
export const describeRate = (rate: RateBody | undefined): string =>
  rate === undefined ? 'none' : `${rate.burst} at once, ${rate.count} every ${rate.period}`

const HEADINGS = ['LIMIT', 'ID', 'DEFAULT', 'OVERRIDES']

const toRow = (limit: LimitBody): readonly string[] => [
  limit.name,
  limit.idFormat,
  describeRate(limit.default),
  String(limit.overrides),
]
