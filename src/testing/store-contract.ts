/** The contract suite: what any store must do, as cases that any test runner can run. */
import { HeadgateError, quote } from '../core/errors.ts'
import { nameOf } from '../core/names.ts'
import type { Store } from '../core/store.ts'
import { span } from '../core/time.ts'
import type {
  CaseBody,
  ContractCase,
  ContractOptions,
  OpenedStore,
  OpenStore,
  StoreFault,
} from './contract/case.ts'
import { commitCases, textCases } from './contract/commits.ts'
import { atomicityCases, isolationCases } from './contract/concurrency.ts'
import { faultCases } from './contract/faults.ts'
import { indexCases } from './contract/lists.ts'
import { movingCases } from './contract/moving.ts'
import { type Namer, namedStore } from './contract/named-store.ts'
import { streamCases } from './contract/streams.ts'
import { expiryCases, timeCases } from './contract/time.ts'
import { fakeClock } from './fake-clock.ts'

export type ContractErrorCode = 'TESTING_UNKNOWN_CASE'

/**
 * Each case opens a store of its own, empty, on a clock of its own. A case that a store cannot run
 * is named in `skip` with the reason; it comes back marked, so that the runner can print it.
 *
 * @example
 * import { memory } from 'headgate'
 * import { storeContract } from 'headgate/testing'
 *
 * const cases = storeContract(async ({ clock }) => {
 *   const store = memory({ clock })
 *   return { store, dispose: () => store.close() }
 * })
 * const [first] = cases
 * await first?.run() // in a test runner: for (const { name, run } of cases) test(name, run)
 */
export function storeContract(
  open: OpenStore,
  { skip = {}, namer = pillarName, withoutMoving }: ContractOptions = {},
): ContractCase[] {
  for (const name of Object.keys(skip)) {
    if (!Object.hasOwn(CASES, name)) throw unknownCase(name)
  }
  return Object.entries(CASES).map(([name, body]) => {
    const reason = skip[name] ?? (Object.hasOwn(movingCases, name) ? withoutMoving : undefined)
    if (reason !== undefined) return { name, skipped: reason, run: async () => {} }
    return { name, run: () => runCase(open, namer, body) }
  })
}

const CASES: Readonly<Record<string, CaseBody>> = {
  ...commitCases,
  ...atomicityCases,
  ...isolationCases,
  ...timeCases,
  ...expiryCases,
  ...textCases,
  ...streamCases,
  ...indexCases,
  ...movingCases,
  ...faultCases,
}

const pillarName: Namer = (tag, part) => nameOf('contract', tag, part)

async function runCase(open: OpenStore, namer: Namer, body: CaseBody): Promise<void> {
  const clock = fakeClock()
  let ticking = false
  const reading = () => {
    if (ticking) clock.advance(span(1))
    return clock()
  }
  const opened = await open({ clock: reading, uptime: clock.uptime })
  const short = new Map<string, string>()
  const named = (store: Store, tag = 'here') => namedStore(store, { tag, namer, short })
  try {
    await body({
      clock,
      tick: () => {
        ticking = true
      },
      store: named(opened.store),
      elsewhere: named(opened.store, 'elsewhere'),
      another: async () => named(await ability(opened, 'another')()),
      reopen: async () => named(await ability(opened, 'reopen')()),
      suffer: (fault, on) => ability(opened, fault)(on),
    })
  } finally {
    await opened.dispose()
  }
}

function ability<Name extends 'another' | 'reopen' | StoreFault>(
  opened: OpenedStore,
  name: Name,
): NonNullable<OpenedStore[Name]> {
  const found = opened[name]
  if (found !== undefined) return found
  throw new Error(`this case needs \`${name}\`: give it, or skip the case by name with a reason`)
}

const unknownCase = (name: string): HeadgateError<ContractErrorCode> =>
  new HeadgateError({
    code: 'TESTING_UNKNOWN_CASE',
    thing: 'the store contract',
    rule: 'skips only cases that it has',
    finding: quote(name),
  })
