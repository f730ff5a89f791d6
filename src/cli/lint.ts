/** `headgate lint`: reads documents as the server would, and says everything that is wrong with them. */
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { DOCUMENT_KINDS, type DocumentKind } from './document-kind.ts'
import type { Finding } from './lint-files.ts'
import { writeJson } from './terminal.ts'

export const lint: Command = {
  name: 'lint',
  summary: 'Check defaults, overrides and headgate.yml. Files given together are checked together.',
  operands: [{ name: 'FILE', many: true }],
  flags: [
    {
      name: 'as',
      value: 'KIND',
      summary: 'config, defaults or overrides; told from the content unless given.',
    },
    JSON_FLAG,
  ],
  run: async ({ operands, flags, environment, terminal }) => {
    const kind = readKind(flags.text('as'))
    const { lintFiles } = await import('./lint-files.ts')
    const findings = await lintFiles(operands, { kind, environment })
    const failed = findings.some(({ level }) => level === 'error')
    if (flags.has('json')) {
      writeJson(terminal, { ok: !failed, files: operands, findings: findings.map(toJson) })
      return failed ? 1 : 0
    }
    for (const finding of findings) terminal.err(describe(finding))
    if (!failed) terminal.out(`ok: ${operands.join(', ')}`)
    return failed ? 1 : 0
  },
}

function readKind(text: string | undefined): DocumentKind | undefined {
  if (text === undefined) return undefined
  const kind = DOCUMENT_KINDS.find((candidate) => candidate === text)
  if (kind !== undefined) return kind
  const rule = `must be one of ${DOCUMENT_KINDS.join(', ')}`
  const finding = JSON.stringify(text)
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--as', rule, finding })
}

const describe = ({ level, mistake }: Finding): string =>
  `${level} ${mistake.code}: ${mistake.message}`

const toJson = ({ level, mistake }: Finding) => {
  const { code, message, thing, rule, finding, at } = mistake
  return { level, code, message, thing, rule, finding, at }
}
