/** The public surface, door by door, as a program imports it after the build. A change here is a change for users. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../support/sources.ts'

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { types: string; node: string }>>
}

/** What Node loads, and the types that compilers read. */
const doorsOf = (folder: string) => {
  const { name, exports }: Manifest = JSON.parse(
    readFileSync(`${ROOT}${folder}package.json`, 'utf8'),
  )
  return Object.entries(exports)
    .filter(([door]) => door !== './package.json')
    .map(([door, target]) => {
      const module = typeof target === 'string' ? target : target.node
      const types = typeof target === 'string' ? target.replace(/\.js$/, '.d.ts') : target.types
      return { name: `${name}${door.slice(1)}`, module, types }
    })
}

const doors = [...doorsOf(''), ...doorsOf('packages/server/')]

describe('the names that each door exports', () => {
  for (const { name, module } of doors) {
    test(name, async () => {
      const names = Object.keys(await import(`${ROOT}${module}`)).sort()
      expect(names).toMatchSnapshot()
    })
  }
})

test('every door has its types beside it', () => {
  for (const { types } of doors) expect(existsSync(`${ROOT}${types}`), types).toBe(true)
})
