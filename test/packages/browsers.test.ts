/** Doors for browsers: they bundle without Node, and weigh what the docs say. */
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { LIBRARY_DOORS } from '../support/packages.ts'
import { ROOT } from '../support/sources.ts'

/** The doors that are promised to run in browsers. */
const BROWSER_DOORS = ['', '/core', '/memory', '/domains', '/poprf'].map(
  (path) => `headgate${path}`,
)

const bundle = async (door: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${door}'`, resolveDir: ROOT },
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    logLevel: 'silent',
  })
  return outputFiles.map(({ text }) => text).join('')
}

const page = readFileSync(`${ROOT}docs/reference/doors.md`, 'utf8')
const rows = new Map(
  [...page.matchAll(/^\| `([^`]+)` \| (.*) \| (.*) \| (.*) \|$/gm)].map(
    ([, door = '', names = '', peers = '', size = '']) => [door, { names, peers, size }],
  ),
)

describe('in browsers', () => {
  test.each(BROWSER_DOORS)('%s bundles without Node, as large as the docs say', async (door) => {
    const text = await bundle(door)
    expect(text.match(/\bBuffer\b|\bprocess\./)).toBeNull()
    expect(text.match(new RegExp(`from ?"(?:node:|(?:${builtinModules.join('|')})")`))).toBeNull()
    const kilobytes = gzipSync(text, { level: 9 }).length / 1_000
    const said = Number.parseInt(rows.get(door)?.size ?? '', 10)
    expect(Math.abs(kilobytes - said)).toBeLessThanOrEqual(Math.max(1, said * 0.05))
  })

  test('the docs give a size for these, and for no other', () => {
    const sized = [...rows].filter(([, { size }]) => size !== 'no').map(([door]) => door)
    expect(sized.sort()).toEqual([...BROWSER_DOORS].sort())
  })
})

describe('the page of doors', () => {
  test('lists every door', () => {
    expect([...rows.keys()]).toEqual(LIBRARY_DOORS.map(({ name }) => name))
  })

  test.each(LIBRARY_DOORS)('names what $name needs, and what it exports', async (door) => {
    const { names = '', peers = '' } = rows.get(door.name) ?? {}
    for (const peer of door.peers) expect(peers).toContain(`\`${peer}\``)
    const exported = await import(door.module)
    const named = [...names.matchAll(/`([a-z]\w*|[A-Z]+)`/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !(name in exported))).toEqual([])
  })
})
