import { expect, test } from 'vitest'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import { memory } from '../../stores/memory/index.ts'
import { watchClock } from './clock-guard.ts'
import { checkSignerStore, isSignerStore } from './signer-store.ts'

test('a store that forgets at a restart is refused, but for tests', () => {
  expect(mistakeOf(() => checkSignerStore('memory:'))).toMatchObject({
    code: 'SIGNER_STORE_VOLATILE',
    finding: 'memory:',
  })
  checkSignerStore('memory:', { forTests: true })
  checkSignerStore('sqlite:signer.db')
})

test("a store is known for a signer's by the look at its clock when it starts, confirmed or not", async () => {
  for (const sources of [[], [() => Promise.reject(new Error('no answer'))]]) {
    const { clock, read } = fakeMachine()
    const store = memory({ clock })
    expect(await isSignerStore(store)).toBe(false)
    await watchClock({ store, machine: read, sources })
    expect(await isSignerStore(store)).toBe(true)
  }
})

test('or by what it did, where its clock is believed', async () => {
  const { ask, store } = signerBench()
  await ask('sign', requestFor(samples('store').peppered))
  expect(await isSignerStore(store)).toBe(true)
})

test('one that holds other things only is not', async () => {
  const store = memory()
  const write = { key: 'requests/{ann}/Foos', value: 'x' }
  await store.transact(() => ({ writes: [write], appends: [], result: undefined }))
  expect(await isSignerStore(store)).toBe(false)
})
