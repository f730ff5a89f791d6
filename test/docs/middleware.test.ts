import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { GATE_OPTIONS } from '../../src/middleware/read-options.ts'
import { ROOT } from '../support/sources.ts'

const page = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8')
const guide = page('docs/guide/middleware.md')

test('the short programs of the guide are the examples, which the tests compile and run', () => {
  const shown = [...guide.matchAll(/<!-- (examples\/\S+) -->\n```ts\n([\s\S]*?)```/g)]
  const doors = ['express', 'fastify', 'hono', 'koa', 'fetch']
  expect(shown.map(([, path]) => path)).toEqual(
    doors.map((door) => `examples/middleware/${door}.ts`),
  )
  for (const [, path = '', code] of shown) expect(code).toBe(page(path))
})

test('every option has a row in the guide, in order, and is in the example of all options', () => {
  const [, table = ''] = /## Options\n\n([\s\S]*?)\n\n/.exec(guide) ?? []
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect([...rows].sort()).toEqual([...GATE_OPTIONS].sort())
  const example = page('examples/middleware/options.ts')
  for (const name of GATE_OPTIONS) expect(example).toMatch(new RegExp(`\\b${name}\\b`))
})

test('every warning is in the guide, with its page', () => {
  const [, union = ''] =
    /type GateWarningCode =([^=]*)\n\n/.exec(page('src/middleware/warnings.ts')) ?? []
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code)
  expect(codes.length).toBeGreaterThan(5)
  for (const code of codes) expect(guide).toContain(`errors.md#${code.toLowerCase()})`)
})

test.each(['middleware', 'migrating'])('links of the guide %s lead somewhere', (name) => {
  for (const [, target = ''] of page(`docs/guide/${name}.md`).matchAll(
    /\]\((?!https?:)([^)#]+)/g,
  )) {
    expect(existsSync(`${ROOT}docs/guide/${target}`), target).toBe(true)
  }
})
