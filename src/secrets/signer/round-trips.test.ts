/** What each request costs a signer on a remote store, in round trips, over a cluster. */
import { expect, test } from 'vitest'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples, varied } from '../../../test/support/odis-samples.ts'
import { memory } from '../../stores/memory/index.ts'
import { pretendedCluster, remoteStore } from '../../testing/index.ts'
import type { Endpoint } from '../domains/domain-kind.ts'
import { domainRegistry } from '../domains/domain-registry.ts'
import { watchClock } from './clock-guard.ts'
import { chargeStep, MAX_ENDLESS_ATTEMPTS } from './domain-record.ts'
import { readRequest } from './request.ts'
import { createSigner } from './signer.ts'

const sample = varied(samples('trips')['linear backoff'], { domain: { cap: 50 } })

const bodyOf = (endpoint: Endpoint, session: string, of = sample): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(requestFor(of, { endpoint, session })))

const open = async () => {
  const { clock, read } = fakeMachine()
  const backend = pretendedCluster(memory({ clock }))
  await watchClock({ store: backend, machine: read })
  /** Another server each time, which has seen nothing yet. */
  const server = () => {
    const store = remoteStore(backend, { clock })
    let looked = 0
    const signer = createSigner({
      store,
      machine: read,
      evaluator: {
        evaluate: async () => {
          looked = store.trips()
          return new Uint8Array(1)
        },
      },
      keys: { current: 1, find: () => ({ kind: 'single', secret: new Uint8Array(32) }) },
      version: 'test',
    })
    /** Trips before the evaluation, and after it. */
    const ask = async (endpoint: Endpoint, session: string, of = sample) => {
      const before = store.trips()
      looked = before
      const { status } = await signer.answer(endpoint, { body: bodyOf(endpoint, session, of) })
      return [status, looked - before, store.trips() - looked] as const
    }
    return { ask, store }
  }
  return { backend, server, read }
}

test('signing: one to look and one to charge, and one more to look where something is new to the server', async () => {
  const { server } = await open()
  const [one, other] = [server(), server()]
  expect(await one.ask('sign', 'a')).toEqual([200, 2, 1])
  expect(await one.ask('sign', 'b')).toEqual([200, 1, 1])
  expect(await one.ask('sign', 'b'), 'again').toEqual([200, 1, 1])
  expect(await other.ask('sign', 'c')).toEqual([200, 2, 1])
  expect(await one.ask('sign', 'd'), 'after another server signed').toEqual([200, 2, 1])
  expect(await one.ask('sign', 'e')).toEqual([200, 1, 1])
})

test('charging an attempt that another server forestalled takes two', async () => {
  const { backend, server, read } = await open()
  const { clock } = fakeMachine()
  const store = remoteStore(backend, { clock })
  const other = server()
  let before = 0
  const signer = createSigner({
    store,
    machine: read,
    evaluator: {
      evaluate: async () => {
        await other.ask('sign', 'meanwhile')
        before = store.trips()
        return new Uint8Array(1)
      },
    },
    keys: { current: 1, find: () => ({ kind: 'single', secret: new Uint8Array(32) }) },
    version: 'test',
  })
  expect((await signer.answer('sign', { body: bodyOf('sign', 'late') })).status).toBe(200)
  expect(store.trips() - before).toBe(2)
})

test('an endless domain that forgets its oldest attempt takes two to charge, as nobody knew which that is', async () => {
  const { backend, server } = await open()
  const endless = varied(samples('endless')['linear backoff'], { domain: { cap: 100_000 } })
  const reading = { registry: domainRegistry(), endpoint: 'sign', conduct: 'cip40' } as const
  const request = readRequest(bodyOf('sign', 'x', endless), reading)
  if (!('endpoint' in request) || request.endpoint !== 'sign') throw new Error('a request to sign')
  const rule = await request.claim.rule()
  for (let i = 0; i < MAX_ENDLESS_ATTEMPTS; i++) {
    const signingHash = Uint8Array.from(Buffer.from(String(i).padStart(64, '0'), 'hex'))
    const attempt = {
      request: { ...request, signingHash },
      rule,
      conduct: 'cip40',
      keyVersion: 1,
      keyName: '1',
    } as const
    await backend.transact((view) => chargeStep(view, attempt, new Uint8Array(1)))
  }
  const one = server()
  expect(await one.ask('sign', 'a', endless)).toEqual([200, 2, 2])
  expect(await one.ask('sign', 'b', endless)).toEqual([200, 1, 2])
})

test('a refusal, a quota and a disabled domain: one, and two where something is new to the server', async () => {
  const { server } = await open()
  const few = varied(sample, { domain: { cap: 1, refresh: { defined: false, value: 0 } } })
  const [one, other] = [server(), server()]
  await one.ask('sign', 'a', few)
  expect(await one.ask('sign', 'b', few)).toEqual([429, 0, 1])
  expect(await other.ask('sign', 'b', few)).toEqual([429, 0, 2])
  const peppered = samples('disabled').peppered
  await one.ask('sign', 'a', peppered)
  expect(await one.ask('quotaStatus', '', peppered)).toEqual([200, 0, 1])
  expect(await other.ask('quotaStatus', '', peppered)).toEqual([200, 0, 2])
  expect(await other.ask('disable', '', peppered)).toEqual([200, 0, 1])
  expect(await one.ask('disable', '', peppered)).toEqual([200, 0, 2])
  expect(await one.ask('quotaStatus', '', peppered)).toEqual([200, 0, 1])
})
