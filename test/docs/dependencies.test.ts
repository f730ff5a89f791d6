import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readManifest } from '../support/packages.ts'
import { ROOT } from '../support/sources.ts'

test('every dependency is named with its reason, and no other', () => {
  const { dependencies } = readManifest('packages/server/')
  const tools = Object.keys(readManifest().devDependencies).filter(
    (name) => !(name in dependencies),
  )
  const page = readFileSync(`${ROOT}docs/reference/dependencies.md`, 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
  expect(named.map(([, name]) => name).sort()).toEqual(Object.keys(dependencies).sort())
  for (const name of tools) expect(page).toContain(`\`${name}\``)
})

test('the page says which of them the library brings, and which are its optional peers', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = readManifest()
  const page = readFileSync(`${ROOT}docs/reference/dependencies.md`, 'utf8')
  const named = (kind: string) =>
    page
      .split('\n')
      .filter((line) => line.split(' | ')[2] === kind)
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
      .map(([, name]) => name)
      .sort()
  expect(named('dependency')).toEqual(Object.keys(dependencies).sort())
  expect(named('peer')).toEqual(Object.keys(peerDependencies).sort())
  for (const name of Object.keys(peerDependencies)) {
    expect(peerDependenciesMeta[name]).toEqual({ optional: true })
  }
})

test('both packages have one version, and ask for the same versions of others', () => {
  const [library, service] = [readManifest(), readManifest('packages/server/')]
  expect([service.version, service.engines]).toEqual([library.version, library.engines])
  const { dependencies, peerDependencies, devDependencies } = library
  const asked = { ...devDependencies, ...peerDependencies, ...dependencies }
  expect(service.dependencies).toEqual(
    Object.fromEntries(Object.keys(service.dependencies).map((name) => [name, asked[name]])),
  )
  for (const [name, range] of Object.entries(peerDependencies)) {
    expect(service.dependencies[name], name).toBe(range)
    expect(devDependencies[name], name).toBe(range)
  }
})

const LOCKS = [
  '',
  'bench/',
  'test/interop/',
  'test/interop/odis/',
  'test/interop/evm/',
  'test/interop/middleware/',
  'test/interop/runtimes/',
  'test/node/',
].map((folder) => `${folder}package-lock.json`)

interface Locked {
  readonly version?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

const readLock = (lock: string): Readonly<Record<string, Locked>> =>
  JSON.parse(readFileSync(`${ROOT}${lock}`, 'utf8')).packages

test.each(LOCKS)('%s names no download address', (lock) => {
  expect(readFileSync(`${ROOT}${lock}`, 'utf8')).not.toMatch(/"resolved"|https?:\/\/registry/)
})

test.each(LOCKS)('%s locks the packages of every platform, as `npm ci` asks', (lock) => {
  const packages = readLock(lock)
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
  const optional = Object.values(packages).flatMap((found) =>
    Object.keys(found.optionalDependencies ?? {}),
  )
  expect(optional.filter((name) => !locked.has(name))).toEqual([])
})

test('no locked package needs a newer Node than Headgate does', () => {
  const { engines } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  const oldest = numbers(engines.node)
  const newer = LOCKS.flatMap((lock) =>
    Object.entries(readLock(lock)).filter(([, { engines }]) => !admits(engines?.node, oldest)),
  )
  expect(newer).toEqual([])
})

/** Enough of npm's ranges for what lock files say: alternatives of `>=` and `^`, `*`, and 4.x. */
function admits(range: string | undefined, [major, minor]: readonly [number, number]): boolean {
  if (range === undefined || range === '*') return true
  return range.split('||').some((part) => {
    const [least, leastMinor] = numbers(part)
    if (!part.includes('>') && least !== major) return false
    return least < major || (least === major && leastMinor <= minor)
  })
}

function numbers(text: string): readonly [number, number] {
  const [, major = '0', minor = '0'] = /(\d+)(?:\.(\d+))?/.exec(text) ?? []
  return [Number(major), Number(minor)]
}
