/** The public surface, door by door, as a program imports it after the build. A change here is a change for users. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../support/sources.ts'

const { exports: doors } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  exports: Record<string, string>
}
const modules = Object.entries(doors).filter(([, file]) => file.endsWith('.js'))

describe('the names that each door exports', () => {
  for (const [door, file] of modules) {
    test(`headgate${door.slice(1)}`, async () => {
      const names = Object.keys(await import(`${ROOT}${file}`)).sort()
      expect(names).toMatchSnapshot()
    })
  }
})

test('every door has its types beside it', () => {
  for (const [, file] of modules) {
    expect(existsSync(`${ROOT}${file.replace(/\.js$/, '.d.ts')}`), file).toBe(true)
  }
})
