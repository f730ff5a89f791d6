import { expect, test } from 'vitest'
import { hours, span } from '../../core/time.ts'
import { relayRequests } from './relay-desk.ts'

const asked = (operation: string) => ({ purpose: { operation }, holdId: `of ${operation}` })

test('an expense finds what was asked for its operation, else the last that was asked', () => {
  const requests = relayRequests(() => span(1))
  requests.add('r-1', asked('FileCreate'))
  requests.add('r-1', asked('FileAppend'))
  expect(requests.find('r-1', 'FileCreate')?.holdId).toBe('of FileCreate')
  expect(requests.find('r-1', 'ContractCreate')?.holdId).toBe('of FileAppend')
  expect(requests.find('r-2', 'FileCreate')).toBeUndefined()
})

test('a request that ended is forgotten', () => {
  const requests = relayRequests(() => span(1))
  requests.add('r-1', asked('FileCreate'))
  requests.add('r-1', asked('FileAppend'))
  expect(requests.end('r-1')).toHaveLength(2)
  expect(requests.end('r-1')).toEqual([])
})

test('what is taken is taken once, the newest first', () => {
  const requests = relayRequests(() => span(1))
  requests.add('0xa1', asked('first'))
  requests.add('0xa1', asked('second'))
  const taken = [requests.take('0xa1'), requests.take('0xa1'), requests.take('0xa1')]
  expect(taken.map((one) => one?.holdId)).toEqual(['of second', 'of first', undefined])
})

test('a request that never ends is forgotten an hour after its last question', () => {
  let now = span(1)
  const requests = relayRequests(() => now)
  requests.add('r-1', asked('FileCreate'))
  now = span(1 + hours(1))
  requests.add('r-2', asked('FileCreate'))
  expect(requests.find('r-1', 'FileCreate')).toBeUndefined()
  expect(requests.find('r-2', 'FileCreate')).toBeDefined()
})
