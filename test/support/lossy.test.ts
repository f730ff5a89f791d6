import { expect, test } from 'vitest'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { lossyStore, retrying } from './lossy.ts'

const store = () => lossyStore(memory())

test('callers who ask again under an operation id are charged once, and told so as if nothing was lost', async () => {
  let asked = 0
  const inner = limiter({ store: store(), limits: { Hits: { burst: 100, period: '1h' } } })
  const spend = (ask: { readonly operationId: string }) => {
    asked += 1
    return inner.spend({ limit: 'Hits', id: 'ann', ...ask })
  }
  const hits = retrying('createLimiter', { spend })
  for (let i = 0; i < 20; i++) {
    const answer = await hits.spend({ operationId: `${i}` })
    expect(answer).toMatchObject({ allowed: true, remaining: 99 - i })
    expect(answer.replayed).toBeUndefined()
  }
  expect(asked).toBeGreaterThan(25)
  const known = await hits.spend({ operationId: '7' })
  expect(known).toMatchObject({ replayed: true, remaining: 92 })
})

test('a pillar that does not remember its operations is found out', async () => {
  const kept = store()
  const spend = (_: { readonly operationId: string }) =>
    kept.transact((view) => {
      const count = Number(view.read('requests/{a}')[0] ?? 0) + 1
      const writes = [{ key: 'requests/{a}', value: String(count) }]
      return { writes, appends: [], result: count }
    })
  const forgetful = retrying('createLimiter', { spend })
  let charged = 0
  for (let i = 0; i < 20; i++) charged = await forgetful.spend({ operationId: `${i}` })
  expect(charged).toBeGreaterThan(25)
})

test('what has no operation id loses nothing', async () => {
  const hits = retrying(
    'createLimiter',
    limiter({ store: store(), limits: { Hits: { burst: 50, period: '1h' } } }),
  )
  for (let i = 0; i < 50; i++) expect((await hits.spend('Hits', 'ann')).allowed).toBe(true)
})
