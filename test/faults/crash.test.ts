/** `kill -9` under load: nothing acknowledged is lost, nothing extra is admitted afterwards. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countdown } from '../support/countdown.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type Served, serve } from '../support/serve.ts'

const BURST = 20
const BUCKETS = 20
const CALLERS = 32
const LIMITS = `limits:
  Orders: { id: opaque, burst: ${BURST}, count: 1, period: 10000h }
`

interface Ledger {
  /** Admissions that the server acknowledged, by bucket. */
  readonly admitted: Map<string, number>
  /** Acknowledged operations, with what was left then. */
  readonly operations: Map<string, { id: string; remaining: number }>
}

interface Reply {
  readonly allowed: boolean
  readonly remaining: number
  readonly replayed?: boolean
}

/** Spends until the server is gone; notes only what came back, and tells of each answer. */
const load = async (server: Served, round: number, ledger: Ledger, answered: () => void) => {
  const caller = async (name: number) => {
    for (let i = 0; ; i++) {
      const id = `round-${round}-${(name * 7 + i) % BUCKETS}`
      const operationId = `${round}-${name}-${i}`
      const reply = await ask(server, { limit: 'Orders', id, operationId })
      if (reply === undefined) return
      if (reply.allowed) {
        ledger.admitted.set(id, (ledger.admitted.get(id) ?? 0) + 1)
        ledger.operations.set(operationId, { id, remaining: reply.remaining })
      }
      answered()
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, name) => caller(name)))
}

/** Undefined when the connection broke: then nothing was acknowledged. */
const ask = async (server: Served, body: object, verb = 'spend'): Promise<Reply | undefined> => {
  try {
    const response = await server.post(`/v1/${verb}`, body)
    return (await response.json()) as Reply
  } catch {
    return undefined
  }
}

const inspect = async (server: Served, round: number, ledger: Ledger): Promise<void> => {
  for (let n = 0; n < BUCKETS; n++) {
    const id = `round-${round}-${n}`
    const acknowledged = ledger.admitted.get(id) ?? 0
    const left = await ask(server, { limit: 'Orders', id, cost: 0 }, 'check')
    expect(BURST - (left?.remaining ?? BURST), `${id}: charges kept`).toBeGreaterThanOrEqual(
      acknowledged,
    )
    const more = await Promise.all(
      Array.from({ length: BURST }, () => ask(server, { limit: 'Orders', id })),
    )
    const extra = more.filter((reply) => reply?.allowed === true).length
    expect(acknowledged + extra, `${id}: admitted in all`).toBeLessThanOrEqual(BURST)
  }
}

test('killed in a loop, the server keeps every charge and every operation it acknowledged', async () => {
  const folder = temporaryFolder()
  const config = join(folder, 'headgate.yml')
  writeFileSync(config, LIMITS)
  const flags = ['--config', config, '--store', `sqlite:${join(folder, 'headgate.db')}`]
  const rounds = times(1, 50)
  let acknowledged = 0
  for (let round = 0; round < rounds; round++) {
    const ledger: Ledger = { admitted: new Map(), operations: new Map() }
    const server = await serve(flags)
    // After a different number of answers in each round, with as many requests under way as callers.
    const { tick, over } = countdown(20 + ((round * 37) % 130))
    const loaded = load(server, round, ledger, tick)
    await Promise.race([over, loaded])
    await server.child.kill('SIGKILL')
    await loaded
    acknowledged += ledger.operations.size

    const again = await serve(flags)
    for (const [operationId, { id, remaining }] of [...ledger.operations].slice(-20)) {
      const reply = await ask(again, { limit: 'Orders', id, operationId })
      expect(reply).toMatchObject({ allowed: true, replayed: true, remaining })
    }
    await inspect(again, round, ledger)
    await again.child.kill('SIGTERM')
    expect(await again.child.ended).toBe(0)
  }
  expect(acknowledged).toBeGreaterThan(rounds)
})
