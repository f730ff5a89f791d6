/** What the commands of plans and spending have in common: where they ask, and what they read. */
import { readReply } from './api.ts'
import type { Call, Flag } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, REMOTE_FLAGS } from './common-flags.ts'
import { withWire } from './gate.ts'
import { writeJson } from './terminal.ts'

export const PLANS_FLAGS: readonly Flag[] = [...LOCAL_FLAGS, ...REMOTE_FLAGS, JSON_FLAG]

export interface PlanBody {
  readonly id: string
  readonly tier: string
  readonly limit: string
  readonly active: boolean
  readonly source: string
  readonly name?: string
}

export interface StandingBody {
  readonly limit: string
  readonly spent: string
  readonly held: string
  readonly remaining: string
}

export const planPath = (id: string, ...rest: readonly string[]): string =>
  ['/v1/plans', ...[id, ...rest].map(encodeURIComponent)].join('/')

export const getBody = <Body extends object>(
  call: Call,
  path: string,
  fields: readonly (keyof Body)[],
  patient?: 'patient',
): Promise<Body> =>
  withWire(call, async (wire) => readReply<Body>(await wire.get(path, patient), fields))

export const postBody = <Body extends object>(
  call: Call,
  path: string,
  body: object,
  fields: readonly (keyof Body)[],
): Promise<Body> =>
  withWire(call, async (wire) => readReply<Body>(await wire.post(path, body), fields))

/** The body whole for programs, a sentence or a table for people. */
export const tell = <Body extends object>(
  { flags, terminal }: Call,
  body: Body,
  describe: (body: Body) => string,
): void => {
  if (flags.has('json')) writeJson(terminal, body)
  else terminal.out(describe(body))
}

export const describePlan = ({ id, tier, limit, active }: PlanBody): string =>
  `plan ${id}: ${tier}, limit ${limit}, ${active ? 'active' : 'inactive'}`
