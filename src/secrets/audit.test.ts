import { expect, test } from 'vitest'
import { instant, type Store } from '../core/index.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/index.ts'
import { type AuditEvent, audit, readAudit } from './audit.ts'

const note = (store: Store, event: AuditEvent): Promise<void> =>
  store.transact(({ now }) => ({ writes: [], appends: [audit(now, event)], result: undefined }))

const storeWith = async (count: number): Promise<Store> => {
  const store = memoryStore({ clock: fakeClock('2024-01-01T00:00:00Z') })
  for (let i = 1; i <= count; i++) {
    await note(store, { event: 'signed', record: `secrets/domain/${i}`, keyVersion: 1 })
  }
  return store
}

test('entries come back as they were, oldest first, with their place and time', async () => {
  const store = await storeWith(1)
  await note(store, { event: 'disabled', record: 'secrets/domain/1' })
  const { entries, next } = await readAudit(store, 0, 10)
  const at = instant(Date.UTC(2024, 0, 1) * 1_000)
  expect(entries).toEqual([
    { position: 1, at, event: 'signed', record: 'secrets/domain/1', keyVersion: 1 },
    { position: 2, at, event: 'disabled', record: 'secrets/domain/1' },
  ])
  expect(next).toBeUndefined()
})

test('pages meet: none is left out, none comes twice, and the last says that it is the last', async () => {
  const store = await storeWith(6)
  const pages = []
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof readAudit>> = await readAudit(store, after, 2)
    pages.push(page.entries.map(({ record }) => record.split('/').at(-1)))
    after = page.next
  }
  expect(pages).toEqual([
    ['1', '2'],
    ['3', '4'],
    ['5', '6'],
  ])
})

test('where nothing was done there is one empty page', async () => {
  expect(await readAudit(memoryStore(), 0, 10)).toEqual({ entries: [] })
})
