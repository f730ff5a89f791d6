/** `headgate limits show`: one limit, or what is in force for one id and what is left of it. */
import type { LimitBody, StandingBody } from './api.ts'
import type { Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, REMOTE_FLAGS } from './common-flags.ts'
import { describeOutlook } from './describe-answer.ts'
import { withGate } from './gate.ts'
import { describeRate } from './limits-list.ts'
import { table, writeJson } from './terminal.ts'

export const limitsShow: Command = {
  name: 'limits show',
  summary: 'One limit; with an id, the rate in force for it and what is left. Charges nothing.',
  operands: [{ name: 'LIMIT' }, { name: 'ID', optional: true }],
  flags: [...LOCAL_FLAGS, ...REMOTE_FLAGS, JSON_FLAG],
  run: async (call) => {
    const [name = '', id] = call.operands
    const { body, rows } = await withGate(call, async (gate) => {
      if (id === undefined) {
        const limit = await gate.limit(name)
        return { body: limit, rows: limitRows(limit) }
      }
      const standing = await gate.standing(name, id)
      return { body: standing, rows: standingRows(standing) }
    })
    if (call.flags.has('json')) writeJson(call.terminal, body)
    else call.terminal.out(table(rows))
    return 0
  },
}

const limitRows = (limit: LimitBody): readonly (readonly string[])[] => [
  ['limit', limit.name],
  ['counts by', limit.idFormat],
  ['default', describeRate(limit.default)],
  ['overrides', String(limit.overrides)],
  ['store down', limit.onStoreFailure],
]

function standingRows(standing: StandingBody): readonly (readonly string[])[] {
  const { limit, id, bucket, source, override, inForce } = standing
  const comment = override === undefined || override.comment === '' ? '' : ` (${override.comment})`
  return [
    ['limit', limit.name],
    ['id', id],
    ['bucket', bucket],
    ['rate', describeRate(inForce)],
    ['from', `${source}${comment}`],
    ['now', describeOutlook(standing)],
  ]
}
