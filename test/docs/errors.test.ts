import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PROBLEMS } from '../../src/server/app/problems.ts'
import { ROOT, sources } from '../support/sources.ts'

/** Codes stand in unions named …Code and in lists named …_CODES, and nowhere else. */
const DECLARATION = /\btype \w+Code =\s*((?:\|?\s*'[A-Z_0-9]+'\s*)+)|_CODES = \[([^\]]*)\]/g

const codesIn = (files: ReturnType<typeof sources>): readonly string[] =>
  files.flatMap(({ text }) =>
    [...text.matchAll(DECLARATION)].flatMap(([, union = '', list = '']) =>
      [...`${union}${list}`.matchAll(/'([A-Z_0-9]+)'/g)].map(([, code = '']) => code),
    ),
  )

/** The rooms whose mistakes people meet over HTTP, on the command line and in documents. */
const ROOMS =
  /^src\/(core|documents|stores|requests|middleware|spending|testing|server|cli|secrets|subjects)\//

const page = readFileSync(`${ROOT}docs/reference/errors.md`, 'utf8')
const headings = [...page.matchAll(/^## (\S+)$/gm)].map(([, code = '']) => code)

test('every code has a heading', () => {
  const codes = codesIn(sources().filter(({ path }) => ROOMS.test(path)))
  expect(codes.length).toBeGreaterThan(70)
  expect(codes.filter((code) => !headings.includes(code))).toEqual([])
})

test('every heading is a code, once', () => {
  const codes = codesIn(sources())
  expect(headings.filter((code) => !codes.includes(code))).toEqual([])
  expect(headings.length).toBe(new Set(headings).size)
})

test('every problem that HTTP answers has its status on the page', () => {
  const shown = (code: string) => page.split(`\n## ${code}\n`)[1]?.split('\n')[1] ?? ''
  const documentsOnly = /^\*document\.\*/
  const wrong = Object.entries(PROBLEMS).filter(
    ([code, { status }]) =>
      !documentsOnly.test(shown(code)) && !shown(code).startsWith(`*${status}`),
  )
  expect(wrong).toEqual([])
})
