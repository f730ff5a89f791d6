/** What the pool promises when threads trap, end or hang, when too much is asked, and at its end. */
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  someBlindedMessage,
  someShare,
  someSingleKey,
  withByte,
} from '../../../../test/support/blinded-messages.ts'
import { hex } from '../../../../test/support/hex.ts'
import { mistakeOf } from '../../../../test/support/mistake-of.ts'
import { minutes, seconds } from '../../../core/time.ts'
import { parseBlindedMessage } from '../blinded-message.ts'
import { type Evaluator, EvaluatorError, evaluateHere } from './evaluator.ts'
import { type EvaluatorPoolOptions, startEvaluatorPool } from './evaluator-pool.ts'

const BUILT = new URL('../../../../dist/secrets/poprf/pool/worker.js', import.meta.url)
const WAYWARD = new URL('../../../../test/faults/children/wayward-worker.js', import.meta.url)
const NOWHERE = new URL('./no-such-worker.js', import.meta.url)

const TRAP = Uint8Array.of(1)
const EXIT = Uint8Array.of(2)
const HANG = Uint8Array.of(3)
const tag = Uint8Array.of(9, 9, 9)
const blindedMessage = someBlindedMessage()
const key = someSingleKey()

const open = (options: EvaluatorPoolOptions): Evaluator => {
  const pool = startEvaluatorPool(options)
  onTestFinished(() => pool.close())
  return pool
}

const codeOf = async (answer: Promise<unknown>): Promise<unknown> => {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof EvaluatorError ? error.code : error
}

describe.each(['wasm', 'typescript'] as const)('the %s engine', (engine) => {
  test('answers on worker threads what it answers on the spot', async () => {
    const pool = open({ engine, workers: 2, file: BUILT })
    const here = await evaluateHere(engine)
    for (const used of [key, someShare()]) {
      const answers = await Promise.all([
        pool.evaluate(used, tag, blindedMessage),
        here.evaluate(used, tag, blindedMessage),
      ])
      expect(answers.map((bytes) => bytes.length)).toEqual(
        used.kind === 'single' ? [1152, 1152] : [1156, 1156],
      )
      expect(new Set(answers.map(hex)).size).toBe(1)
    }
  })

  test('refuses a proof that does not hold, and goes on', async () => {
    const pool = open({ engine, workers: 1, file: BUILT })
    const forged = parseBlindedMessage(withByte(blindedMessage, 0, (blindedMessage[0] ?? 0) ^ 1))
    await expect(pool.evaluate(key, tag, forged)).rejects.toMatchObject({
      code: 'POPRF_PROOF_INVALID',
    })
    expect((await pool.evaluate(key, tag, blindedMessage)).length).toBe(1152)
  })

  test('refuses a key that is none, and goes on', async () => {
    const pool = open({ engine, workers: 1, file: BUILT })
    const zero = { kind: 'single', secret: new Uint8Array(32) } as const
    await expect(pool.evaluate(zero, tag, blindedMessage)).rejects.toMatchObject({
      code: 'POPRF_SCALAR_INVALID',
    })
    expect((await pool.evaluate(key, tag, blindedMessage)).length).toBe(1152)
  })

  test('leaves the key to its owner: neither wiped nor taken away', async () => {
    const pool = open({ engine, workers: 1, file: BUILT })
    const before = hex(key.secret)
    await pool.evaluate(key, tag, blindedMessage)
    expect(hex(key.secret)).toBe(before)
  })
})

test('a message that is not canonical is refused before there is a task for a thread', () => {
  const long = new Uint8Array([...blindedMessage, 0])
  expect(mistakeOf(() => parseBlindedMessage(long)).code).toBe('POPRF_LENGTH_INVALID')
})

test('a full queue refuses the next task and still answers those before it', async () => {
  const pool = open({ workers: 1, queue: 2, file: BUILT })
  const accepted = [1, 2, 3].map(() => pool.evaluate(key, tag, blindedMessage))
  const refused = codeOf(pool.evaluate(key, tag, blindedMessage))
  expect(pool.load()).toEqual({ running: 1, waiting: 2 })
  expect(await refused).toBe('EVALUATOR_QUEUE_FULL')
  expect(new Set((await Promise.all(accepted)).map(hex)).size).toBe(1)
  expect(pool.load()).toEqual({ running: 0, waiting: 0 })
})

describe('a thread that goes wrong is replaced, and takes only its own task with it', () => {
  test.each([
    ['traps', TRAP, 'EVALUATOR_LOST', minutes(1)],
    ['ends', EXIT, 'EVALUATOR_LOST', minutes(1)],
    // Long enough for the next thread to start in, also on a busy machine.
    ['hangs', HANG, 'EVALUATOR_TIMEOUT', seconds(5)],
  ])('one that %s', async (_, fatal, code, timeout) => {
    const told: string[] = []
    const onFailure = (error: EvaluatorError) => void told.push(error.code)
    const pool = open({ workers: 1, timeout, file: WAYWARD, onFailure })
    const first = codeOf(pool.evaluate(key, fatal, blindedMessage))
    const second = pool.evaluate(key, tag, blindedMessage)
    expect(await first).toBe(code)
    expect(hex(await second)).toBe(hex(tag))
    expect(told).toEqual([code])
  })

  test('again and again', async () => {
    const pool = open({ workers: 1, timeout: minutes(1), file: WAYWARD })
    for (let round = 0; round < 5; round++) {
      expect(await codeOf(pool.evaluate(key, TRAP, blindedMessage))).toBe('EVALUATOR_LOST')
    }
    expect(hex(await pool.evaluate(key, tag, blindedMessage))).toBe(hex(tag))
  })

  test('a thread that cannot even start costs each task a refusal, and the process nothing', async () => {
    const pool = open({ workers: 1, file: NOWHERE })
    for (let round = 0; round < 2; round++) {
      expect(await codeOf(pool.evaluate(key, tag, blindedMessage))).toBe('EVALUATOR_LOST')
    }
  })
})

test('a thread that fails without a task is told too; the end of a pool is no failure', async () => {
  const broken = new Promise<EvaluatorError>((resolve) => {
    open({ workers: 1, file: NOWHERE, onFailure: resolve })
  })
  expect(await broken).toMatchObject({
    code: 'EVALUATOR_LOST',
    finding: expect.stringMatching(/^Error (ERR_)?MODULE_NOT_FOUND$/),
  })
  const told: unknown[] = []
  const well = startEvaluatorPool({
    workers: 1,
    file: BUILT,
    onFailure: (error) => told.push(error),
  })
  await well.evaluate(key, tag, blindedMessage)
  await well.close()
  expect(told).toEqual([])
})

describe('close', () => {
  test('finishes what was accepted and takes nothing more', async () => {
    const pool = startEvaluatorPool({ workers: 1, queue: 2, file: BUILT })
    const accepted = [1, 2, 3].map(() => pool.evaluate(key, tag, blindedMessage))
    const end = pool.close()
    expect(await codeOf(pool.evaluate(key, tag, blindedMessage))).toBe('EVALUATOR_CLOSED')
    await end
    expect((await Promise.all(accepted)).every(({ length }) => length === 1152)).toBe(true)
  })

  test('a second time is the same end', async () => {
    const pool = startEvaluatorPool({ workers: 1, file: BUILT })
    expect(pool.close()).toBe(pool.close())
    await pool.close()
  })

  test('on the spot too, later calls are refused', async () => {
    const here = await evaluateHere('typescript')
    await here.close()
    expect(await codeOf(here.evaluate(key, tag, blindedMessage))).toBe('EVALUATOR_CLOSED')
  })
})

test.each([
  ['workers', 0],
  ['workers', 65],
  ['workers', Number.NaN],
  ['queue', 0],
  ['queue', 1.5],
])('%s of %s is refused', (option, value) => {
  expect(() => startEvaluatorPool({ [option]: value, file: BUILT })).toThrow(
    expect.objectContaining({ code: 'EVALUATOR_OPTION_INVALID' }),
  )
})
