import { expect, test } from 'vitest'
import { seconds } from '../../core/time.ts'
import { callQueue } from './queue.ts'

test('a queue has a bound: beyond it a call is refused at once, and the others are served', async () => {
  const refused: number[] = []
  let served = 0
  const calls = callQueue<number>({
    path: 'a file',
    patience: seconds(5),
    serve: (group) => {
      served += group.length
    },
    fail: (call, error) => {
      expect(error).toMatchObject({
        code: 'STORE_CONTENDED',
        finding: '65536 calls already waiting',
      })
      refused.push(call)
    },
  })
  for (let i = 0; i <= 65_536; i++) calls.push(i)
  expect(refused).toEqual([65_536])
  await calls.drained()
  expect(served).toBe(65_536)
})

test('a group that fails takes only its own calls with it', async () => {
  const failed: number[] = []
  const served: number[] = []
  const calls = callQueue<number>({
    path: 'a file',
    patience: seconds(5),
    serve: (group) => {
      if (group.includes(0)) throw new Error('on purpose')
      served.push(...group)
    },
    fail: (call) => failed.push(call),
  })
  for (let i = 0; i < 600; i++) calls.push(i)
  await calls.drained()
  expect([failed.length, served.length, served[0]]).toEqual([512, 88, 512])
})
