import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CLI_ERROR_CODES } from '../../src/cli/command.ts'
import { variableOfFlag } from '../../src/cli/flags.ts'
import { COMMANDS } from '../../src/cli/run.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/reference/cli.md`, 'utf8')
const sections = new Map(
  page.split(/^## /m).map((text) => [text.slice(0, text.indexOf('\n')), text]),
)
const shared = sections.get('Where a command asks') ?? ''
const APART = ['Where a command asks', 'Mistakes']

test('every command has a section, and every section a command', () => {
  const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  const named = headings.filter((heading) => !APART.includes(heading ?? ''))
  expect(named).toEqual(COMMANDS.map(({ name }) => name))
})

describe('every flag is on the page, with its value and its variable', () => {
  for (const { name, flags } of COMMANDS) {
    test(name, () => {
      const section = `${sections.get(name)}${shared}`
      for (const flag of flags) {
        const row = `| \`--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}\` |`
        const variable = variableOfFlag(flag.name)
        expect(section).toContain(variable === undefined ? row : `${row} \`${variable}\` |`)
      }
    })
  }
})

test('every flag on the page belongs to its command', () => {
  for (const { name, flags } of COMMANDS) {
    const rows = [...(sections.get(name) ?? '').matchAll(/^\| `--([a-z-]+)/gm)]
    const known = flags.map((flag) => flag.name)
    for (const [, flag] of rows) expect(known, name).toContain(flag)
  }
})

test('every mistake of a caller has a heading', () => {
  const headings = [...page.matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code)
  expect(headings).toEqual([...CLI_ERROR_CODES])
})
