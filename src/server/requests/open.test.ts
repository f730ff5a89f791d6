import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { configFolder } from '../../../test/support/config-folder.ts'
import { seconds } from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'
import type { ReloadOutcome } from '../app/metrics.ts'
import { loadConfiguration } from '../config/configuration.ts'
import { configurationSource } from './open.ts'

const limit = (burst: number) =>
  `limits: {Foos: {id: opaque, burst: ${burst}, count: 1, period: 1s}}`
const override = '[{Foos: {burst: 9, count: 9, period: 1s, ids: [bob]}}]'
const token = `tokens: [{name: ci, sha256: ${'a'.repeat(64)}, scopes: [admin]}]`

const open = async (files: Readonly<Record<string, string>>, follow = false) => {
  const { path, write } = configFolder(files)
  const sources = { flags: { config: join(path, 'headgate.yml') } }
  const lines: { level: string; facts: object; message: string }[] = []
  const tell = (level: string) => (facts: object, message: string) =>
    lines.push({ level, facts, message })
  const outcomes: ReloadOutcome[] = []
  const clock = fakeClock()
  const source = configurationSource({
    first: await loadConfiguration(sources),
    load: () => loadConfiguration(sources),
    follow,
    log: { info: tell('info'), warn: tell('warn'), error: tell('error') },
    clock,
    onReload: (outcome) => outcomes.push(outcome),
  })
  onTestFinished(() => source.close())
  const burst = (id = 'ann') => source.current().resolve({ limit: 'Foos', id }).limit?.burst
  return { source, write, lines, outcomes, clock, burst }
}

describe('a catalog that is loaded again', () => {
  test('is in force at once', async () => {
    const { source, write, burst, outcomes } = await open({ 'headgate.yml': limit(1) })
    expect(burst()).toBe(1)
    write('headgate.yml', limit(2))
    expect(burst()).toBe(1)
    await source.reload()
    expect(burst()).toBe(2)
    expect(outcomes).toEqual(['loaded'])
  })

  test('loses its last override when the file no longer has it', async () => {
    const { source, write, burst } = await open({
      'headgate.yml': `${limit(1)}\noverridesFile: o.yml`,
      'o.yml': override,
    })
    expect(burst('bob')).toBe(9)
    write('o.yml', '[]')
    await source.reload()
    expect(burst('bob')).toBe(1)
  })

  test('follows its files without being asked', async () => {
    const { source, write, burst } = await open({ 'headgate.yml': limit(1) }, true)
    write('headgate.yml', limit(2))
    while (burst() !== 2) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(source.status().problem).toBeUndefined()
  })

  test('follows a file that headgate.yml names only since', async () => {
    const { source, write, burst } = await open({ 'headgate.yml': limit(1), 'o.yml': '[]' }, true)
    write('headgate.yml', `${limit(1)}\noverridesFile: o.yml`)
    await source.reload()
    write('o.yml', override)
    while (burst('bob') !== 9) await new Promise((resolve) => setTimeout(resolve, 10))
  })
})

describe('a mistake in any file', () => {
  test('leaves everything as it was, and is logged with its position', async () => {
    const files = { 'headgate.yml': `${limit(1)}\noverridesFile: o.yml`, 'o.yml': override }
    const { source, write, burst, lines, outcomes, clock } = await open(files)
    const { loadedAt } = source.status()
    clock.advance(seconds(1))
    write('headgate.yml', `${limit(5)}\noverridesFile: o.yml`)
    write('o.yml', '[{Foos: {burst: 0, count: 9, period: 1s, ids: [bob]}}]')
    await expect(source.reload()).rejects.toMatchObject({ code: 'FIELD_VALUE' })
    expect([burst(), burst('bob')]).toEqual([1, 9])
    const { problem } = source.status()
    expect(problem).toContain('o.yml:1:17: override of Foos.burst: must be a whole number')
    expect(source.status().loadedAt).toBe(loadedAt)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 'error', facts: { code: 'FIELD_VALUE' } })
    expect(lines[0]?.facts).toHaveProperty('at', expect.stringContaining('o.yml:1:17'))
    expect(outcomes).toEqual(['refused'])
  })

  test('is forgotten once it is mended', async () => {
    const { source, write, burst, clock } = await open({ 'headgate.yml': limit(1) })
    const { loadedAt } = source.status()
    write('headgate.yml', 'limits: [')
    await expect(source.reload()).rejects.toMatchObject({ code: 'DOCUMENT_SYNTAX' })
    clock.advance(seconds(2))
    write('headgate.yml', limit(3))
    await source.reload()
    expect(burst()).toBe(3)
    expect(source.status()).toEqual({ loadedAt: loadedAt + 2_000, problem: undefined })
  })
})

describe('other settings', () => {
  test('tokens change without a restart, so that one can be revoked', async () => {
    const { source, write } = await open({ 'headgate.yml': token })
    expect(source.tokens().map(({ name }) => name)).toEqual(['ci'])
    write('headgate.yml', token.replace('ci', 'cd'))
    await source.reload()
    expect(source.tokens().map(({ name }) => name)).toEqual(['cd'])
  })

  test('the last token of a server that others can reach cannot be removed', async () => {
    const { source, write } = await open({ 'headgate.yml': `host: 0.0.0.0\n${token}` })
    write('headgate.yml', 'host: 127.0.0.1')
    await expect(source.reload()).rejects.toMatchObject({ code: 'TOKEN_REQUIRED' })
    expect(source.tokens()).toHaveLength(1)
  })

  test('what needs a restart is named, and what is the same is not', async () => {
    const { source, write, lines } = await open({ 'headgate.yml': '{port: 1, logLevel: warn}' })
    write('headgate.yml', '{port: 2, logLevel: warn, operations: {perToken: 5}}')
    await source.reload()
    const [warning] = lines.filter(({ level }) => level === 'warn')
    expect(warning?.message).toBe('changed settings that need a restart: port, operations')
  })

  test('warnings are logged, of the first catalog and of every new one', async () => {
    const fast = 'limits: {Fast: {id: opaque, burst: 1, count: 700000, period: 1s}}'
    const { source, lines } = await open({ 'headgate.yml': fast })
    const warnings = () => lines.filter(({ level }) => level === 'warn')
    expect(warnings()).toMatchObject([{ facts: { code: 'RATE_ROUNDED' } }])
    await source.reload()
    expect(warnings()).toHaveLength(2)
  })
})
