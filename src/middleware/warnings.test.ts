import { afterEach, expect, test, vi } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import { createWarnings } from './warnings.ts'

const mistake = {
  code: 'PROXY_UNTRUSTED',
  thing: 'X-Forwarded-For',
  rule: 'must be trusted',
  finding: '"1.2.3.4"',
} as const

afterEach(() => vi.restoreAllMocks())

test('a code is told once to each sink, whatever number of gates shares it', () => {
  const { warn, codes } = gateScene()
  const [first, second] = [createWarnings(warn), createWarnings(warn)]
  expect(first.isNew('PROXY_UNTRUSTED')).toBe(true)
  first.tell(mistake)
  second.tell(mistake)
  expect(second.isNew('PROXY_UNTRUSTED')).toBe(false)
  second.tell({ ...mistake, code: 'PROXY_TRUSTS_ALL' })
  expect(codes()).toEqual(['PROXY_UNTRUSTED', 'PROXY_TRUSTS_ALL'])
})

test('without a sink it goes to the console, with its page', () => {
  const console = vi.spyOn(globalThis.console, 'warn').mockReturnValue(undefined)
  createWarnings().tell({ ...mistake, code: 'USER_WITHOUT_ID' })
  expect(console.mock.calls).toEqual([
    [
      'headgate: warning USER_WITHOUT_ID: X-Forwarded-For: must be trusted, found "1.2.3.4" ' +
        '(docs/reference/errors.md#user_without_id)',
    ],
  ])
})

test('a sink that throws ends nothing', () => {
  const warnings = createWarnings(() => {
    throw new Error('the log is full')
  })
  expect(() => warnings.tell({ code: 'REFUND_FAILED', thing: 'x', rule: 'y' })).not.toThrow()
})
