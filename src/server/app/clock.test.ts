/** The watch over a clock, its time sources, and what it tells an operator. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { handTimers, noted, settled } from '../../../test/support/hand-timers.ts'
import type { ClockVerdict } from '../../core/machine-clock.ts'
import { instant, seconds } from '../../core/time.ts'
import { watchClock } from '../../secrets/index.ts'
import { memory } from '../../stores/memory/index.ts'
import { httpTime, startClockWatch } from './clock.ts'

describe('a time source', () => {
  const answering = (headers: Readonly<Record<string, string>>) =>
    httpTime('https://example.org', async () => new Response(null, { status: 404, headers }))

  test('tells the Date of any answer, and how long a cache held it', async () => {
    const date = 'Mon, 01 Jan 2024 00:00:10 GMT'
    const at = instant(Date.parse(date) * 1_000)
    expect(await answering({ date })()).toBe(at)
    expect(await answering({ date, age: '30' })()).toBe(at + seconds(30))
  })

  test('has no answer without a date', async () => {
    for (const headers of [{}, { date: 'today' }, { date: new Date().toUTCString(), age: '-1' }]) {
      await expect(answering(headers)()).rejects.toThrow('without a date')
    }
  })

  test('is any web server, asked for no more than its head', async () => {
    const methods: (string | undefined)[] = []
    const server = createServer((request, response) => {
      methods.push(request.method)
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const told = await httpTime(`http://127.0.0.1:${port}/`)()
    expect(Math.abs(told / 1_000 - Date.now())).toBeLessThan(60_000)
    expect(methods).toEqual(['HEAD'])
  })
})

const WORDS = { consequence: 'nothing is signed', sources: '--time-sources' } as const

test('a watch looks at once and every ten seconds, and tells of changes only', async () => {
  const { clock, read, leap, reboot, pass } = fakeMachine()
  const store = memory({ clock })
  const look = () => watchClock({ store, machine: read })
  const { timers, delays, goOff } = handTimers()
  const { lines, log } = noted()
  const seen: boolean[] = []
  const onVerdict = ({ trusted }: ClockVerdict) => void seen.push(trusted)
  const watched = await startClockWatch({ ...WORDS, look, log, onVerdict, timers })
  expect([watched.verdict()?.trusted, lines]).toEqual([true, []])
  await settled()
  await goOff()
  leap(3_600)
  await goOff()
  await goOff()
  expect(watched.verdict()).toMatchObject({ trusted: false, reason: 'leapt' })
  leap(-3_600)
  await goOff()
  pass(60)
  reboot('boot-2')
  await goOff()
  await watched.stop()
  expect(lines).toEqual([
    [
      'error',
      'CLOCK_UNTRUSTED',
      'nothing is signed: the clock was set ahead by 3600 s since it was recorded',
    ],
    ['info', undefined, 'the clock is trusted again'],
    [
      'warn',
      'CLOCK_UNCONFIRMED',
      'after a reboot the clock is taken as it is: --time-sources would confirm it',
    ],
  ])
  expect(seen).toEqual([true, true, true, false, false, true, true])
  expect(new Set(delays)).toEqual(new Set([10_000]))
})

test('a store that is down at the start leaves the clock untrusted until it answers', async () => {
  const { clock, read } = fakeMachine()
  const store = memory({ clock })
  let down = true
  const failing: typeof store = {
    ...store,
    transact: (step, guess) =>
      down ? Promise.reject(new Error('the disk')) : store.transact(step, guess),
  }
  const look = () => watchClock({ store: failing, machine: read })
  const { timers, goOff } = handTimers()
  const { lines, log } = noted()
  const onVerdict = () => {}
  const watched = await startClockWatch({ ...WORDS, look, log, onVerdict, timers })
  expect(watched.verdict()).toBeUndefined()
  expect(lines[0]).toEqual(['warn', undefined, 'the clock could not be looked at'])
  await settled()
  down = false
  await goOff()
  expect(watched.verdict()).toMatchObject({ trusted: true })
  await watched.stop()
})
