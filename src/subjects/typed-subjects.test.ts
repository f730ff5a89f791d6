import { describe, expect, onTestFinished, test } from 'vitest'
import { everything } from '../../test/support/everything.ts'
import { mistakeOfPromise } from '../../test/support/mistake-of-promise.ts'
import { days, hours, instant, seconds } from '../core/time.ts'
import { limiter } from '../requests/limiter/typed-limiter.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/index.ts'
import { subjects } from './typed-subjects.ts'
import { type DelegateOptions, delegate } from './ucan/delegate.ts'
import { generateIdentity } from './ucan/identity.ts'

const open = () => {
  // Lifetimes of proofs are checked by the machine's clock too.
  const clock = fakeClock(new Date().toISOString())
  const store = memory({ clock })
  const [owner, agent] = [generateIdentity(), generateIdentity()]
  const people = subjects({ store, identity: owner, clock, uptime: () => seconds(1) })
  onTestFinished(people.close)
  const grant = (options: Partial<DelegateOptions> = {}) =>
    delegate({ from: owner, to: agent.did, can: 'rate-limit/*', expiresAt: 'never', ...options })
  return { people, owner, agent, grant, store, clock }
}

describe('an agent', () => {
  test('blocks, lists and unblocks by a proof, as long as it was said', async () => {
    const { people, agent, grant, clock } = open()
    const acting = people.as(agent, await grant())
    const given = { reason: 'ticket 1234', expires: '7d' }
    const { ok } = await acting.block('example.com', given)
    expect(await acting.list('example.com')).toEqual({ ok: [{ id: ok?.id, rate: 0 }] })
    const shown = await acting.client.get(ok?.id ?? '')
    const expires = Math.floor((clock() + days(7)) / 1_000_000)
    expect(shown.ok).toMatchObject({ reason: 'ticket 1234', expires })
    expect(await acting.unblock('example.com')).toEqual({ ok: { removed: 1 } })
    expect(await acting.unblock('example.com')).toEqual({ ok: { removed: 0 } })
    expect(await acting.list('example.com')).toEqual({ ok: [] })
    const history = await acting.history({ subject: 'example.com' })
    expect(history.ok).toMatchObject({ entries: [{ kind: 'add' }, { kind: 'remove' }] })
  })

  test('sets rates, replaces them by label, and removes them by id', async () => {
    const { people, owner, clock } = open()
    const acting = people.as(owner)
    const until = instant(clock() + hours(1))
    const first = await acting.rate('a.test', 5, { label: 'billing', expires: until })
    await acting.replace('a.test', 7, { label: 'billing' })
    const { ok = [] } = await acting.list('a.test')
    expect(ok.map(({ rate }) => rate)).toEqual([7])
    await acting.block('b.test', { label: 'fraud' })
    const loosened = await acting.replace('b.test', 9, { label: 'fraud' })
    expect(loosened.error?.name).toBe('RateLimitLoosened')
    const forced = await acting.replace('b.test', 9, { label: 'fraud', force: true })
    expect(forced.ok?.id).toEqual(expect.any(String))
    expect((await acting.remove(first.ok?.id ?? '')).error?.name).toBe('RateLimitsNotFound')
    expect((await acting.remove(ok[0]?.id ?? '')).ok).toEqual({})
  })

  test('may record any text, is warned of one that can match nothing, and cannot set it', async () => {
    const { people, owner } = open()
    const acting = people.as(owner)
    const { ok } = await acting.block('198.51.100.7/24')
    expect(ok).toEqual({
      id: expect.any(String),
      warning: expect.stringMatching(/^matches nothing as it stands: 198\.51\.100\.7\/24 must be/),
    })
    expect((await acting.list('198.51.100.7/24')).ok).toHaveLength(1)
    const { error } = await acting.replace('198.51.100.7/24', 0, { label: 'fraud' })
    expect(error?.name).toBe('MalformedCapability')
    expect(error?.message).toMatch(/^subject: must be a range without host bits.+found "198/)
  })

  test('covers a public suffix only by force, and is told what that covers', async () => {
    const { people, owner } = open()
    const acting = people.as(owner)
    for (const subject of ['com', 'co.uk', '*.github.io', '0.0.0.0/0']) {
      const refused = await acting.block(subject)
      expect(refused.error?.name).toBe('RateLimitTooWide')
      expect(refused.error?.message).toMatch(/would cover every .+; use force if that is meant$/)
      const set = await acting.replace(subject, 0, { label: 'fraud' })
      expect(set.error?.name).toBe('RateLimitTooWide')
    }
    const { ok } = await acting.block('com', { force: true })
    expect(ok?.warning).toBe('covers every domain under com, a public suffix')
    await people.gate().catchUp()
    expect(people.gate().judge(['ann@mail.example.com']).state).toBe('blocked')
    expect(people.gate().judge(['ann@mail.example.org']).state).toBe('clear')
  })

  test('blocks ranges, what is below a domain and all mail of one; unblocks in any spelling', async () => {
    const { people, owner } = open()
    const acting = people.as(owner)
    for (const subject of ['198.51.100.0/24', '2001:db8::/32', '*.wild.test', '@atmail.test']) {
      expect((await acting.block(subject)).ok).toEqual({ id: expect.any(String) })
    }
    await people.gate().catchUp()
    const state = (subject: string) => people.gate().judge([subject]).state
    const met = [
      '198.51.100.7:443',
      '[2001:db8::9]:80',
      'https://a.wild.test/x',
      'X <x@atmail.test>',
    ]
    expect(met.map(state)).toEqual(met.map(() => 'blocked'))
    const free = ['198.51.101.7', '2001:db9::9', 'wild.test', 'https://atmail.test/x']
    expect(free.map(state)).toEqual(free.map(() => 'clear'))
    expect((await acting.unblock('2001:DB8:0::/32')).ok).toEqual({ removed: 1 })
    expect((await acting.unblock('*@ATMAIL.test')).ok).toEqual({ removed: 1 })
    await people.gate().catchUp()
    expect(met.map(state)).toEqual(['blocked', 'clear', 'blocked', 'clear'])
  })

  test('with the proof as bytes may do the same', async () => {
    const { people, agent, grant } = open()
    expect((await people.as(agent, (await grant()).bytes).block('a.test')).error).toBeUndefined()
  })
})

describe('there is no way around the service', () => {
  test.each([
    ['without a proof', undefined],
    ['with the right to something else', { can: 'rate-limit/list' }],
    ['with the right over another subject', { caveats: { subject: 'other.test' } }],
    ['with the right to another rate', { caveats: { rate: 5 } }],
    ['with a proof for another key', { to: generateIdentity().did }],
    ['with a proof of another owner', { from: generateIdentity() }],
  ])('%s the agent is refused', async (_, options) => {
    const { people, agent, grant, store } = open()
    const proofs = options === undefined ? [] : [await grant(options)]
    const { error } = await people.as(agent, ...proofs).block('example.com')
    expect(error?.name).toBe('Unauthorized')
    expect(await everything(store)).toEqual([])
  })

  test('a proof that was revoked, or has expired, is worth nothing', async () => {
    const { people, owner, agent, grant, clock } = open()
    const revoked = await grant()
    await people.as(owner).client.revoke(revoked.bytes)
    expect((await people.as(agent, revoked).block('a.test')).error?.name).toBe('Unauthorized')
    const brief = await grant({ expiresAt: instant(clock() + hours(1)) })
    clock.advance(hours(1))
    expect((await people.as(agent, brief).block('a.test')).error?.name).toBe('Unauthorized')
  })
})

describe('the gate', () => {
  test('is one for all, and refuses charges that name a blocked subject', async () => {
    const { people, owner, store } = open()
    const gate = people.gate()
    expect(people.gate()).toBe(gate)
    await people.as(owner).block('example.com')
    const limits = { Uploads: { burst: 9, period: '1m' } }
    const uploads = limiter({ store, limits, guard: gate })
    const spend = (subject: string) => uploads.spend('Uploads', 'x', { subjects: [subject] })
    expect(await spend('ann@mail.example.com')).toMatchObject({ reason: 'BLOCKED' })
    expect(await spend('bob@example.org')).toMatchObject({ allowed: true })
  })

  test('has the clocks of the machine by default', async () => {
    const people = subjects({ store: memory(), identity: generateIdentity() })
    onTestFinished(people.close)
    await people.gate().catchUp()
    expect(people.gate().judge(['a.test'])).toEqual({ state: 'clear' })
  })
})

test.each(['7', 'tomorrow', '2026-01-31T12:00', ''])('%j is no expiry', async (expires) => {
  const { people, owner } = open()
  const asked = people.as(owner).block('a.test', { expires })
  expect((await mistakeOfPromise(asked)).code).toBe('RATE_EXPIRY_INVALID')
})
