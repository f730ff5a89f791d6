/**
 * A store that loses replies at random, and callers that ask again under the same operation id: the
 * suites of the pillars run over it with HEADGATE_STORE=lossy (vitest.config.ts). What has no
 * operation id and is not the same question by itself loses nothing: its caller could not ask again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { TestRunner } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import type { Store } from '../../src/core/store.ts'
import { type Random, seeded } from './random.ts'

/** Of one call of a verb. */
interface Losses {
  count: number
}

const asking = new AsyncLocalStorage<Losses>()

/** Of one call, so that it comes to an end. */
const MAX_LOSSES = 4

export const lossyStore = (inner: Store): Store => ({
  ...inner,
  transact: async (step, guess, intent) => {
    let hasWritten = false
    const result = await inner.transact(
      (view) => {
        const commit = step(view)
        hasWritten = commit.writes.length + commit.appends.length > 0
        return commit
      },
      guess,
      intent,
    )
    const losses = asking.getStore()
    if (!hasWritten || losses === undefined || losses.count === MAX_LOSSES) return result
    if (chance().below(2) === 0) return result
    losses.count += 1
    throw new StoreError({
      code: 'STORE_UNAVAILABLE',
      thing: 'the lossy store',
      rule: 'must answer',
      finding: 'a reply that was lost after its commit',
    })
  },
})

type Verb = (...asked: readonly unknown[]) => Promise<unknown>

const hasId = (asked: readonly unknown[]): boolean =>
  asked.some((each) => isObject(each) && 'operationId' in each)

const always = (): boolean => true

/** Which verbs may be asked again, by the function that opens their pillar. */
const REPEATABLE: Readonly<Record<string, Readonly<Record<string, typeof hasId>>>> = {
  createLimiter: { spend: hasId, refund: hasId, reset: hasId, acquire: hasId },
  createSpending: {
    hold: hasId,
    extend: hasId,
    capture: hasId,
    record: hasId,
    reverse: hasId,
    grant: hasId,
    // Of one hold there is one end.
    settle: always,
    release: always,
  },
  // A signer knows an attempt by its signing hash.
  createSigner: { answer: always },
}

/** What `opener` opened, with callers who ask again whenever a reply was lost, until one arrives. */
export const retrying = <T extends object>(opener: string, pillar: T): T => {
  const verbs = Object.entries(pillar).map(([name, verb]) => {
    const isRepeatable = REPEATABLE[opener]?.[name]
    if (isRepeatable === undefined) return [name, verb]
    return [
      name,
      (...asked: unknown[]) => (isRepeatable(asked) ? retried(name, verb, asked) : verb(...asked)),
    ]
  })
  return Object.assign({ ...pillar }, Object.fromEntries(verbs))
}

async function retried(name: string, verb: Verb, asked: readonly unknown[]): Promise<unknown> {
  const losses: Losses = { count: 0 }
  for (;;) {
    const before = losses.count
    const [outcome] = await Promise.allSettled([asking.run(losses, () => verb(...asked))])
    if (losses.count > before) continue
    if (outcome.status === 'rejected') throw outcome.reason
    const isFirst = noteAnswered(questionOf(name, asked), outcome.value)
    return isFirst ? asIfFirst(outcome.value) : outcome.value
  }
}

/** Of one test, which has its own chance: it loses the same replies whatever runs beside it. */
interface Told {
  readonly random: Random
  /** What was answered under. */
  readonly questions: Set<string>
}

const told = new WeakMap<object, Told>()

function toldNow(): Told {
  const test = TestRunner.getCurrentTest()
  const known = test && told.get(test)
  if (known !== undefined) return known
  const seed = [...(test?.fullTestName ?? '')].reduce((sum, c) => sum * 31 + c.charCodeAt(0), SEED)
  const fresh = { random: seeded(seed % 2 ** 32), questions: new Set<string>() }
  if (test !== undefined) told.set(test, fresh)
  return fresh
}

const given = process.env['HEADGATE_SEED'] ?? '1'
const SEED = given === 'any' ? Date.now() : Number(given)

const chance = (): Random => toldNow().random

/** Whether a test has its first answer to a question. A refusal is none: the next is a new question. */
function noteAnswered(question: string, value: unknown): boolean {
  const { questions } = toldNow()
  const isFirst = !questions.has(question)
  const isRefusal = isObject(value) && 'allowed' in value && value.allowed === false
  if (!isRefusal) questions.add(question)
  return isFirst
}

/** By the id and whose it is, or by the hold that is to end. */
const questionOf = (name: string, asked: readonly unknown[]): string => {
  const { operationId, holdId, scope } = Object.assign({}, ...asked.filter(isObject))
  return JSON.stringify([name, operationId ?? holdId, scope])
}

/** The caller knows why it is told that it was answered before. */
function asIfFirst(value: unknown): unknown {
  if (!isObject(value) || !('replayed' in value)) return value
  const { replayed: _, ...rest } = value
  return rest
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
