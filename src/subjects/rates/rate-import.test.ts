import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { MAX_IMPORTED_RATES } from './rate-import.ts'
import { createRates } from './rates.ts'

const PROVIDER = 'did:web:hg.example'
const ADA = { issuer: 'did:key:ada', chain: [] }
const blocks = (...subjects: string[]) =>
  subjects.map((subject) => ({ subject, rate: 0, label: 'list' }))

const STORES = {
  memory: () => memory(),
  sqlite: () => sqlite({ path: join(temporaryFolder(), 'rates.db') }),
}

describe.each(Object.entries(STORES))('an import on %s', (_, open) => {
  const openRates = () => {
    const store = open()
    onTestFinished(() => store.close())
    return createRates({ store, provider: PROVIDER })
  }
  const subjectsOf = async (rates: ReturnType<typeof openRates>) =>
    (await rates.query({ label: 'list' })).rates.map(({ subject }) => subject).sort()

  test('sets, replaces and removes in one commit, and again changes nothing', async () => {
    const rates = openRates()
    const all = { remove: [], force: false }
    await rates.import({ drafts: blocks('a.test', 'b.test', '192.0.2.0/24'), ...all }, ADA)
    const before = (await rates.list('b.test'))[0]
    const drafts = [...blocks('a.test'), { subject: 'c.test', rate: 2, label: 'list' }]
    const done = await rates.import({ drafts, remove: [before?.id ?? ''], force: false }, ADA)
    expect(done.ok).toMatchObject({ unchanged: 1, set: [{ subject: 'c.test' }], replaced: [] })
    expect(await subjectsOf(rates)).toEqual(['192.0.2.0/24', 'a.test', 'c.test'])
    const again = await rates.import({ drafts, ...all }, ADA)
    expect(again.ok).toEqual({ set: [], replaced: [], removed: [], unchanged: 2 })
    expect((await rates.ratesFor(['192.0.2.77'])).map(({ rate }) => rate.rate)).toEqual([0])
  })

  test.each([
    ['a block would be loosened', [{ subject: 'a.test', rate: 5, label: 'list' }], []],
    ['a public suffix is among them', blocks('com'), []],
    ['an id to remove is unknown', blocks('d.test'), ['nothing']],
  ])('changes nothing if %s', async (_name, bad, remove) => {
    const rates = openRates()
    await rates.import({ drafts: blocks('a.test'), remove: [], force: false }, ADA)
    const drafts = [...blocks('b.test'), ...bad, ...blocks('c.test')]
    const done = await rates.import({ drafts, remove, force: false }, ADA)
    expect(done.error).toBeDefined()
    expect(await subjectsOf(rates)).toEqual(['a.test'])
    expect((await rates.history()).entries).toHaveLength(1)
  })

  test('takes as many as are stated, and not one more', async () => {
    const rates = openRates()
    const many = Array.from({ length: MAX_IMPORTED_RATES }, (_each, n) => `${n}.test`)
    const done = await rates.import({ drafts: blocks(...many), remove: [], force: false }, ADA)
    expect(done.ok?.set).toHaveLength(MAX_IMPORTED_RATES)
    const over = { drafts: blocks(...many, 'x.test'), remove: [], force: false }
    await expect(rates.import(over, ADA)).rejects.toThrow('must hold at most 5000 rates')
  })
})
