/** Places of a cluster: where the link of an id leads, and what becomes of it. */
import { expect, test } from 'vitest'
import { StoreError } from '../../core/errors.ts'
import type { Key, Store } from '../../core/store.ts'
import { seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, pretendedCluster } from '../../testing/index.ts'
import { limiter } from './typed-limiter.ts'

const cluster = () => {
  const clock = fakeClock()
  const inner = pretendedCluster(memory({ clock }))
  const server = (fails: (guess: readonly Key[]) => boolean = () => false) => {
    const transact: Store['transact'] = async (step, guess = [], intent) => {
      if (!fails(guess)) return inner.transact(step, guess, intent)
      throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
    }
    const limits = {
      Jobs: { atOnce: 1, heldFor: '30s' },
      Other: { atOnce: 1, heldFor: '30s' },
    } as const
    return limiter({ store: { ...inner, transact }, limits })
  }
  const keys = async () => (await inner.scan('', 100)).items.map(({ key }) => key)
  return { clock, server, keys }
}

const job = { operationId: 'job' }

test('a place is released by its bare id, by a server that never saw it', async () => {
  const { server, keys } = cluster()
  await server().acquire('Jobs', 'ann', job)
  expect(await server().release('job')).toBe(true)
  expect(await server().release('job')).toBe(false)
  expect(await keys()).toEqual([])
})

test('where no place is free, the link goes, and the id is free for another limit', async () => {
  const { server } = cluster()
  await server().acquire('Jobs', 'ann')
  expect((await server().acquire('Jobs', 'ann', job)).allowed).toBe(false)
  expect((await server().acquire('Other', 'ann', job)).allowed).toBe(true)
})

test('a refused retry does not unlink the place that the first call got', async () => {
  const { server, clock } = cluster()
  await server().acquire('Jobs', 'ann', { ...job, heldFor: '60s' })
  clock.advance(seconds(10))
  expect(await server().acquire('Jobs', 'ann', job)).toMatchObject({ replayed: true })
  clock.advance(seconds(45))
  expect(await server().release('job')).toBe(true)
})

test('a link that a crash left behind ends when the place would have', async () => {
  const { server, clock } = cluster()
  const broken = server((guess) => guess.includes('places/{ann}/Jobs'))
  await expect(broken.acquire('Jobs', 'ann', job)).rejects.toThrow('must answer')
  await expect(server().acquire('Other', 'ann', job)).rejects.toMatchObject({
    code: 'OPERATION_ID_REUSED',
  })
  expect((await server().acquire('Jobs', 'ann', job)).allowed).toBe(true)
  clock.advance(seconds(30))
  expect((await server().acquire('Other', 'ann', job)).allowed).toBe(true)
})
