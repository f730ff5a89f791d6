/** `headgate lint`: reads documents as the server would, and says everything that is wrong with them. */
import { flagsOf } from '../documents/settings/reference.ts'
import { type LintFinding, SERVER_SETTINGS } from '../server/api.ts'
import type { CliCommand } from './command.ts'
import { JSON_FLAG, readWord, settingsFlags } from './flags.ts'
import { tell } from './terminal.ts'

export const lintCommands: readonly CliCommand[] = [
  {
    name: 'lint',
    summary:
      'Check defaults, overrides and headgate.yml. Files given together are checked together.',
    operands: [{ name: 'FILE', many: true }],
    flags: [
      {
        name: 'as',
        value: 'KIND',
        summary: 'config, defaults or overrides; else the content tells.',
      },
      ...flagsOf(SERVER_SETTINGS, ['skipUnmatchable']),
      JSON_FLAG,
    ],
    run: async (call) => {
      const { operands: files, flags, environment, terminal } = call
      const { DOCUMENT_KINDS, lintFiles } = await import('../server/local.ts')
      const as = flags.text('as')
      const kind = as === undefined ? undefined : readWord(as, '--as', DOCUMENT_KINDS)
      const findings = await lintFiles(files, { kind, flags: settingsFlags(flags), environment })
      const ok = findings.every(({ level }) => level !== 'error')
      if (flags.has('json')) {
        tell(call, { ok, files, findings: findings.map(toJson) }, () => '')
      } else {
        for (const finding of findings) terminal.err(describe(finding))
        if (ok) terminal.out(`ok: ${files.join(', ')}`)
      }
      return ok ? 0 : 1
    },
  },
]

const describe = ({ level, mistake }: LintFinding): string =>
  `${level} ${mistake.code}: ${mistake.message}`

const toJson = ({ level, mistake }: LintFinding) => {
  const { code, message, thing, rule, finding, at } = mistake
  return { level, code, message, thing, rule, finding, at }
}
