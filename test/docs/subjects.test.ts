/** The guide to subjects says what the code does. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { coveringForms, MAX_UCAN_WORK, normalForm } from '../../src/subjects/index.ts'
import { ABILITIES, WHOLE_NAMESPACE } from '../../src/subjects/ucan/capabilities.ts'
import { ROOT, sources } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/guide/subjects.md`, 'utf8')
const section = (heading: string): string =>
  page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
const rowsOf = (heading: string): readonly (readonly string[])[] =>
  section(heading)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1))
const quoted = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

describe('spellings of one subject', () => {
  for (const [asked, found = ''] of rowsOf('Which subjects are the same')) {
    const [first = '', ...others] = quoted(asked)
    test(first, () => {
      for (const other of others) expect(normalForm(other)).toBe(normalForm(first))
      for (const wider of quoted(found)) {
        expect(coveringForms(first)).toContain(normalForm(wider))
      }
    })
  }
})

test('every ability has a row', () => {
  const rows = rowsOf('Handing out rights').flatMap(([ability]) => quoted(ability))
  expect(rows.sort()).toEqual([...ABILITIES.keys(), WHOLE_NAMESPACE].sort())
})

test('every name of a refusal has a row, and every row is such a name', () => {
  const rows = rowsOf('What a refusal is called').flatMap(([names]) => quoted(names))
  const texts = sources('src/subjects').map(({ text }) => text)
  const used = texts.flatMap((text) => [...text.matchAll(/\brefusal\(\s*'([A-Z]\w+)'/g)])
  const names = used.map(([, name]) => name)
  expect(rows.toSorted()).toEqual([...new Set(names)].sort())
})

test('the reference states the budget of a message as the code has it', () => {
  const http = readFileSync(`${ROOT}docs/reference/http.md`, 'utf8')
  const table = http.split('\n## POST /ucan\n')[1]?.split('\n## ')[0] ?? ''
  const figure = (row: string) =>
    Number(new RegExp(`\\| ${row}[^|]*\\| ([\\d,]+)`).exec(table)?.[1]?.replaceAll(',', ''))
  expect({
    verified: figure('Signatures'),
    hashed: figure('Bytes that are hashed'),
    nodes: figure('Values, as CBOR'),
    compared: figure('Values of delegated'),
    pages: figure('Pages'),
  }).toEqual(MAX_UCAN_WORK)
})
