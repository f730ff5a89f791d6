/** What each verb costs on a remote store, in round trips, over a cluster. */
import { expect, test } from 'vitest'
import { stage } from '../../test/support/ucan.ts'
import { hours } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock, pretendedCluster, remoteStore } from '../testing/index.ts'
import { createRefusalCounts } from './gate.ts'
import { createRates, type Rates } from './rates/rates.ts'
import { generateIdentity } from './ucan/identity.ts'

const PROVIDER = 'did:web:example.com'
const ADA = { issuer: 'did:key:zAda', chain: [] }

const open = () => {
  const clock = fakeClock()
  const backend = pretendedCluster(memory({ clock }))
  /** Another server each time, which has seen nothing yet. */
  const server = () => {
    const store = remoteStore(backend, { clock })
    const rates = createRates({ store, provider: PROVIDER })
    const trips = async (verb: (rates: Rates) => Promise<unknown>): Promise<number> => {
      const before = store.trips()
      await verb(rates)
      return store.trips() - before
    }
    return { store, rates, trips }
  }
  return { clock, backend, server }
}

const draft = (subject: string) => ({ subject, rate: 0, label: 'x' })

const idOf = (result: Awaited<ReturnType<Rates['add']>>): string => result.ok?.id ?? ''

/** An address with a name, blocked as itself and within ranges of several lengths. */
const RANGES = ['192.0.2.7', '192.0.2.0/24', '192.0.0.0/16', '192.0.2.0/28', '2001:db8::/32']

test('to set, to remove and to ask: one where a server knows what is there, two where it does not', async () => {
  const { server } = open()
  const known = server()
  for (const subject of [...RANGES, 'a.test', 'b.test']) await known.rates.add(draft(subject), ADA)
  const ids = await Promise.all(
    ['a.test', 'b.test'].map(async (subject) => idOf(await known.rates.add(draft(subject), ADA))),
  )
  const [gone = '', left = ''] = ids
  const verbs: Readonly<Record<string, (rates: Rates) => Promise<unknown>>> = {
    'add to a name': (rates) => rates.add(draft('a.test'), ADA),
    'add to a range': (rates) => rates.add(draft('192.0.2.0/24'), ADA),
    'set a name': (rates) => rates.set(draft('a.test'), ADA),
    'set a range': (rates) => rates.set(draft('192.0.0.0/16'), ADA),
    get: (rates) => rates.get(left),
    'get what is not there': (rates) => rates.get('0000000000a-none'),
    list: (rates) => rates.list('a.test'),
    'rates for an address and a name': (rates) => rates.ratesFor(['192.0.2.7', 'x.b.test']),
    'rates for an address of IPv6': (rates) => rates.ratesFor(['2001:db8::1']),
    explain: (rates) => rates.explain('192.0.2.7'),
    query: (rates) => rates.query(),
    'query by label and prefix': (rates) => rates.query({ label: 'x', prefix: 'a' }),
    history: (rates) => rates.history(),
    'history of a subject': (rates) => rates.history({ subject: 'a.test' }),
    import: (rates) =>
      rates.import({ drafts: RANGES.map(draft), remove: [left], force: true }, ADA),
    'import again': (rates) =>
      rates.import({ drafts: RANGES.map(draft), remove: [], force: true }, ADA),
  }
  expect(await known.trips((rates) => rates.remove([gone], ADA))).toBe(1)
  const cost: Record<string, readonly [number, number]> = {}
  for (const [name, verb] of Object.entries(verbs)) {
    const fresh = await server().trips(verb)
    // Seen once, by whoever changed it: what it changes itself it knows.
    const one = server()
    await one.trips(verb)
    cost[name] = [await one.trips(verb), fresh]
  }
  for (const [name, [right, most]] of Object.entries(cost)) {
    expect(right, name).toBe(1)
    expect(most, name).toBeLessThanOrEqual(2)
  }
})

test('to remove what a server has never seen takes two', async () => {
  const { server } = open()
  const { rates } = server()
  const ids = [
    idOf(await rates.add(draft('a.test'), ADA)),
    idOf(await rates.add(draft('b.test'), ADA)),
  ]
  expect(await server().trips((fresh) => fresh.remove(ids, ADA))).toBe(2)
  expect(await rates.list('a.test')).toEqual([])
})

test('counts of refusals are added in one, or two', async () => {
  const { clock, server } = open()
  const flush = async (store: ReturnType<typeof server>['store']): Promise<number> => {
    const counts = createRefusalCounts({ store, provider: PROVIDER, clock })
    for (const form of ['name:a.test', 'name:b.test']) counts.count({ form })
    const before = store.trips()
    await counts.flush()
    return store.trips() - before
  }
  const { store } = server()
  expect([await flush(store), await flush(store), await flush(server().store)]).toEqual([1, 1, 2])
})

test('through UCAN: one where the server knows the revocations and the subject, else two', async () => {
  const { clock, server } = open()
  clock.advance(hours(1))
  const identity = generateIdentity()
  const [one, other] = [server().store, server().store]
  const scene = await stage({ store: one, identity })
  const elsewhere = await stage({ store: other, identity })
  const expiration = Math.floor(clock() / 1_000_000) + 3_600
  const grant = await scene.grant({ expiration })
  const own = await scene.grant({
    from: scene.agent,
    to: elsewhere.agent,
    proofs: [grant],
    expiration,
  })
  const counted = async (
    at: typeof scene,
    question: Omit<Parameters<typeof scene.ask>[0], 'expiration'>,
  ) => {
    const store = at === scene ? one : other
    const before = store.trips()
    const { ok } = await at.ask({ ...question, expiration })
    expect(ok, question.can).toBeDefined()
    return [store.trips() - before, ok] as const
  }
  const nb = { subject: '192.0.2.0/24', rate: 0, label: 'x' }
  const proofs = [grant]
  const [cost, added] = await counted(scene, { can: 'rate-limit/add', nb, proofs })
  expect(cost).toBe(1)
  const by = scene.agent
  for (const at of [scene, elsewhere]) {
    for (const question of [
      { can: 'rate-limit/list', nb: { subject: nb.subject }, proofs, by },
      { can: 'rate-limit/get', nb: { id: added?.['id'] }, proofs, by },
      { can: 'rate-limit/set', nb: { ...nb, subject: 'a.test' }, proofs, by },
      { can: 'rate-limit/query', proofs, by },
      { can: 'rate-limit/history', proofs, by },
    ] as const) {
      const [trips] = await counted(at, question)
      // A page is read once the right is shown.
      const isPage = question.can.endsWith('query') || question.can.endsWith('history')
      const isKnown = at === scene || !question.can.endsWith('set')
      expect(trips, question.can).toBe(isKnown && !isPage ? 1 : 2)
    }
  }
  const revocation = {
    can: 'ucan/revoke',
    with: by.did(),
    nb: { ucan: own.cid },
    by,
    enclosed: [...own.iterateIPLDBlocks()],
  } as const
  expect((await counted(elsewhere, revocation))[0]).toBeLessThanOrEqual(2)
  expect((await counted(scene, revocation))[0]).toBeLessThanOrEqual(2)
  const [removal] = await counted(elsewhere, {
    can: 'rate-limit/remove',
    nb: { id: added?.['id'] },
    proofs,
    by,
  })
  expect(removal).toBeLessThanOrEqual(2)
})
