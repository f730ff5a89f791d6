/**
 * What a server turns away, in its log: callers that it rejects, and what limits refuse. Sampled, so
 * that a flood cannot fill the disk, and without secrets: of a token a few digits of its hash.
 */
import { hash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { StoreError } from '../../core/errors.ts'
import { oneOf, trueOrFalse, wholeNumberIn } from '../../documents/settings/reader.ts'
import { type SettingsOf, settingsTable } from '../../documents/settings/table.ts'

const JOURNAL_LEVELS = ['warn', 'info', 'debug', 'silent'] as const

/** A line for each request of the fastest server: more was never meant. */
const MAX_LINES_A_SECOND = 100_000

/** One line in a million is as good as none. */
const MAX_ONE_IN = 1_000_000

const LEVEL_WORDS = '`warn`, `info`, `debug` or `silent`'

const oneIn = {
  reader: wholeNumberIn({ min: 1, max: MAX_ONE_IN }),
  default: 1,
  sentence: 'Of so many, one is logged.',
} as const

export const JOURNAL_SETTINGS = settingsTable({
  rejected: {
    short: 'level',
    section: {
      level: {
        reader: oneOf(JOURNAL_LEVELS),
        default: 'warn',
        sentence: `At which level rejected tokens, hosts and origins are logged, and proxies that ask the gate wrongly: ${LEVEL_WORDS}. May stand alone: \`rejected: info\`.`,
      },
      oneIn,
      perSecond: {
        reader: wholeNumberIn({ min: 1, max: MAX_LINES_A_SECOND }),
        default: 1,
        sentence:
          'Lines a second at most, for each error code; the next line counts those left out.',
      },
    },
  },
  refused: {
    short: 'level',
    section: {
      level: {
        reader: oneOf(JOURNAL_LEVELS),
        default: 'silent',
        sentence: `At which level refusals of limits, blocks and budgets are logged: ${LEVEL_WORDS}. May stand alone: \`refused: info\`.`,
      },
      oneIn,
      perSecond: {
        reader: wholeNumberIn({ min: 1, max: MAX_LINES_A_SECOND }),
        default: 10,
        sentence: 'Lines a second at most; the next line counts those left out.',
      },
      ids: {
        reader: trueOrFalse,
        default: false,
        sentence: 'Whether the lines hold ids. These may name people, or be keys.',
      },
    },
  },
})

type JournalSettings = SettingsOf<typeof JOURNAL_SETTINGS>

/** The part of a request that the journal reads. */
interface JournalRequest {
  readonly log: FastifyBaseLogger
  readonly method: string
  readonly ip: string
  readonly routeOptions: { readonly url?: string | undefined }
  readonly headers: { readonly authorization?: string | undefined }
  readonly access?: { readonly scope: string } | null
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Set before the server listens. */
    journal: Journal
  }
}

/** Of a problem. */
interface Rejection {
  readonly code: string
  readonly cause?: string | undefined
  readonly detail: string
  readonly thing: string
  readonly rule: string
  readonly finding?: string | undefined
}

export interface Journal {
  rejected(request: JournalRequest, problem: Rejection): void
  /** An outage fails every request: one of them a second is told, and the next counts the others. */
  storeFailed(request: JournalRequest, error: StoreError): void
  /** Of an operation, what was asked and what was answered: logged if something in it was refused. */
  readonly refused: ((request: JournalRequest, asked: object, answered: object) => void) | undefined
}

/** `now` in milliseconds, of a clock that only grows. */
export const createJournal = (settings: JournalSettings, now: () => number): Journal => {
  const { rejected, refused } = settings
  const samplers = new Map<string, Sampler>()
  const samplerOf = (code: string): Sampler => {
    const sampler = samplers.get(code) ?? createSampler(rejected, now)
    samplers.set(code, sampler)
    return sampler
  }
  const sampleRefused = createSampler(refused, now)
  const sampleFailed = createSampler({ oneIn: 1, perSecond: 1 }, now)
  return {
    storeFailed: (request, err) => {
      const leftOut = sampleFailed()
      if (leftOut === undefined) return
      const { method, routeOptions } = request
      request.log.warn(
        { err, method, route: routeOptions.url, leftOut },
        'the store failed a request',
      )
    },
    rejected: (request, problem) => {
      if (rejected.level === 'silent') return
      const leftOut = samplerOf(problem.cause ?? problem.code)()
      if (leftOut === undefined) return
      const facts = { ...factsOf(problem), ...originOf(request), ...tokenOf(request), leftOut }
      request.log[rejected.level](facts, `rejected: ${problem.detail}`)
    },
    refused:
      refused.level === 'silent'
        ? undefined
        : (request, asked, answered) => {
            for (const facts of refusalsIn(asked, answered, refused.ids)) {
              const leftOut = sampleRefused()
              if (leftOut === undefined) continue
              const { scope: token } = request.access ?? {}
              const line = { ...facts, ...originOf(request), token, leftOut }
              request.log[refused.level](line, 'refused')
            }
          },
  }
}

/** How many were left out since the last that was taken; undefined: this one is left out too. */
type Sampler = () => number | undefined

interface Sampling {
  readonly oneIn: number
  readonly perSecond: number
}

export const createSampler = (
  { oneIn: every, perSecond }: Sampling,
  now: () => number,
): Sampler => {
  let seen = 0
  let leftOut = 0
  let second = Number.NEGATIVE_INFINITY
  let lines = 0
  return () => {
    const taken = seen++ % every === 0
    const current = Math.floor(now() / 1_000)
    if (current !== second) {
      second = current
      lines = 0
    }
    if (!taken || lines >= perSecond) {
      leftOut += 1
      return undefined
    }
    lines += 1
    const count = leftOut
    leftOut = 0
    return count
  }
}

const factsOf = ({ code, cause, thing, rule, finding }: Rejection) => ({
  code,
  cause,
  thing,
  rule,
  finding,
})

/** The route and not the URL: that may name people. */
const originOf = ({ method, ip, routeOptions }: JournalRequest) => ({
  method,
  route: routeOptions.url,
  client: ip,
})

/** Enough to find it among the hashes in headgate.yml, too little to be of use to a thief. */
const SHOWN_HASH_DIGITS = 8

function tokenOf({ headers, access }: JournalRequest): object {
  if (access) return { token: access.scope }
  const [, token] = /^Bearer +(\S+)/i.exec(headers.authorization ?? '') ?? []
  if (token === undefined) return {}
  return { tokenSha256: hash('sha256', token).slice(0, SHOWN_HASH_DIGITS) }
}

/** A batch may hold several. */
function refusalsIn(asked: object, answered: object, ids: boolean): readonly object[] {
  const answers = fieldOf(answered, 'answers')
  if (Array.isArray(answers)) {
    return answers.flatMap((each: unknown) =>
      typeof each === 'object' && each !== null ? refusalsIn(NOTHING, each, ids) : [],
    )
  }
  if (fieldOf(answered, 'allowed') !== false) return []
  const limit = fieldOf(asked, 'limit')
  return [
    {
      reason: fieldOf(answered, 'reason'),
      limits: fieldOf(answered, 'violated') ?? (limit === undefined ? undefined : [limit]),
      budget: fieldOf(answered, 'budget'),
      retryAfterMs: fieldOf(answered, 'retryAfterMs'),
      ...(ids ? idsIn(asked, answered) : {}),
    },
  ]
}

const NOTHING = Object.freeze({})

function idsIn(asked: object, answered: object): object {
  const charges = fieldOf(answered, 'charges')
  const charged: readonly unknown[] = Array.isArray(charges) ? charges : [asked]
  const ids = charged.flatMap((charge) =>
    typeof charge === 'object' && charge !== null && fieldOf(charge, 'allowed') !== true
      ? (fieldOf(charge, 'id') ?? [])
      : [],
  )
  return { ids, plan: fieldOf(answered, 'plan') }
}

const fieldOf = (holder: object, name: string): unknown => Reflect.get(holder, name)
