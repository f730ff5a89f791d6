/** The contract suite: what any store must do, as cases that any test runner can run. */
import { HeadgateError } from '../core/errors.ts'
import { atomicity } from './contract/atomicity.ts'
import type {
  Body,
  ContractCase,
  ContractOptions,
  OpenedStore,
  OpenStore,
} from './contract/case.ts'
import { expiry } from './contract/expiry.ts'
import { indexes } from './contract/indexes.ts'
import { isolation } from './contract/isolation.ts'
import { lifetime } from './contract/lifetime.ts'
import { plans } from './contract/plans.ts'
import { streams } from './contract/streams.ts'
import { text } from './contract/text.ts'
import { time } from './contract/time.ts'
import type { TestingErrorCode } from './errors.ts'
import { fakeClock } from './fake-clock.ts'

/**
 * Each case opens a store of its own, empty, on a clock of its own. A case that a store cannot run
 * is named in `skip` with the reason; it comes back marked, so that the runner can print it.
 */
export function storeContract(
  open: OpenStore,
  { skip = {} }: ContractOptions = {},
): ContractCase[] {
  for (const name of Object.keys(skip)) {
    if (!Object.hasOwn(BODIES, name)) throw unknownCase(name)
  }
  return Object.entries(BODIES).map(([name, body]) => {
    const reason = skip[name]
    if (reason !== undefined) return { name, skipped: reason, run: async () => {} }
    return { name, run: () => runCase(open, body) }
  })
}

const BODIES: Readonly<Record<string, Body>> = {
  ...plans,
  ...atomicity,
  ...isolation,
  ...time,
  ...expiry,
  ...text,
  ...streams,
  ...indexes,
  ...lifetime,
}

async function runCase(open: OpenStore, body: Body): Promise<void> {
  const clock = fakeClock()
  const opened = await open({ clock })
  try {
    await body({
      clock,
      store: opened.store,
      another: () => ability(opened, 'another')(),
      reopen: () => ability(opened, 'reopen')(),
    })
  } finally {
    await opened.dispose()
  }
}

function ability(
  opened: OpenedStore,
  name: 'another' | 'reopen',
): NonNullable<typeof opened.another> {
  const found = opened[name]
  if (found !== undefined) return found
  throw new Error(`this case needs \`${name}\`: give it, or skip the case by name with a reason`)
}

const unknownCase = (name: string): HeadgateError<TestingErrorCode> =>
  new HeadgateError({
    code: 'TESTING_UNKNOWN_CASE',
    thing: 'the store contract',
    rule: 'skips only cases that it has',
    finding: JSON.stringify(name),
  })
