import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT } from '../support/sources.ts'

test('every dependency is named with its reason, and no other', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  const page = readFileSync(`${ROOT}docs/reference/dependencies.md`, 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
  expect(named.map(([, name]) => name).sort()).toEqual(Object.keys(dependencies).sort())
  for (const name of Object.keys(devDependencies)) expect(page).toContain(`\`${name}\``)
})

test('the lock file names no download address', () => {
  for (const lock of ['package-lock.json', 'bench/package-lock.json']) {
    expect(readFileSync(`${ROOT}${lock}`, 'utf8')).not.toMatch(/"resolved"|https?:\/\/registry/)
  }
})
