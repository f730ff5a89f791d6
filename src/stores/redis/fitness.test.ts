import { expect, test } from 'vitest'
import { openLine } from '../remote/line.ts'
import { checkFitness } from './fitness.ts'
import { redisNames } from './names.ts'
import { ALL_SLOTS } from './slots.ts'

/** A server of some version that holds some format. */
const check = (version: string, format: string | null) => {
  const call = async (command: string): Promise<unknown> =>
    command === 'INFO' ? `# Server\r\nredis_version:${version}\r\nos:Linux\r\n` : format
  const link = {
    call,
    run: () => Promise.reject(new Error('not run')),
    masters: async () => [{ id: '', slots: ALL_SLOTS, call }],
    subscribe: () => () => {},
    close: async () => {},
  }
  const line = openLine({ thing: 'the store', isAnswer: () => true })
  return checkFitness('the store', { link, line, names: redisNames('') })
}

test('an empty server and one of this format will do', async () => {
  await check('7.0.15', null)
  await check('8.2.0', '1')
})

test.each(['6.2.14', '2.8', ''])('a server of version %j is refused', async (version) => {
  await expect(check(version, null)).rejects.toMatchObject({
    code: 'REDIS_TOO_OLD',
    rule: 'must be Redis 7.0 or newer',
    finding: JSON.stringify(version),
  })
})

test.each(['2', 'something else'])('data of format %j is refused, not touched', async (format) => {
  await expect(check('7.0.15', format)).rejects.toMatchObject({ code: 'REDIS_FORMAT_NEWER' })
})
