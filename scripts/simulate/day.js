// A day of a busy relay, decided by a seed: who sends what when, what it costs, and what goes wrong.
// Every transaction is a function of its number, so that a relay that crashed can be repeated.

const DAY_US = 86_400_000_000
/** A Monday, so that the day is a window of its own. */
const START_US = Date.UTC(2026, 2, 2) * 1_000

const LATE_US = 45 * 60_000_000
const PARTNERS = 20
const MEMBERS = 10
const PAID_BY_FILE = PARTNERS * MEMBERS

/** In tinybars: what one costs, more or less, and how often it comes, in per cent. */
const KINDS = [
  { operation: 'EthereumTransaction', cost: 1_000_000, share: 55 },
  { operation: 'FileAppendTransaction', cost: 40_000_000, share: 25 },
  { operation: 'FileCreateTransaction', cost: 42_000_000, share: 10 },
  { operation: 'FileInfoQuery', cost: 100_000, share: 10, mode: 'QUERY' },
]

export const planDay = ({ users, transactions, seed }) => {
  const batches = Math.max(96, Math.ceil(transactions / 400))
  const ends = batchEnds(transactions, batches)
  const late = Math.max(2, Math.floor((LATE_US * batches) / DAY_US))
  const chance = (number, salt) => hash(seed, number, salt) / 2 ** 32
  return {
    batches,
    /** No settlement comes later than this many batches after its hold. */
    late,
    settings: settingsFor(transactions),
    plans: partners(),
    timeOf: (batch) => START_US + Math.floor((batch * DAY_US) / batches),
    numbersOf: (batch) => ({ first: batch === 0 ? 0 : ends[batch - 1], end: ends[batch] }),
    transaction: (number) => transactionOf(number, users, late, (salt) => chance(number, salt)),
  }
}

function transactionOf(number, users, late, chance) {
  const kind = kindOf(chance(1) * 100)
  const estimate = Math.ceil(kind.cost * (0.5 + chance(2)))
  // Few send much, many little.
  const user = Math.floor(users * chance(3) ** 2.2)
  return {
    id: `0.0.2-${number}`,
    ask: {
      ...(user % 33 === 32 ? { ip: ipOf(user) } : { from: addressOf(user), ip: ipOf(user) }),
      operation: kind.operation,
      mode: kind.mode ?? 'TRANSACTION',
      estimate: BigInt(estimate),
    },
    spent: BigInt(Math.floor(estimate * (0.6 + 0.4 * chance(4)))),
    failed: chance(5) < 0.03,
    inParts: chance(6) < 0.15,
    heldTwice: chance(7) < 0.02,
    settledTwice: chance(8) < 0.02,
    settlesAfter: chance(9) < 0.03 ? 1 + Math.floor(chance(10) * late) : 1,
  }
}

/** Two waves a day, and ten bursts of five times as much. */
function batchEnds(transactions, batches) {
  const weights = Array.from({ length: batches }, (_, batch) => {
    const hour = (24 * batch) / batches
    const wave = 1.2 + Math.sin(((hour - 9) * Math.PI) / 6) * 0.6
    return Math.floor((10 * hour) / 24) !== Math.floor((10 * (hour + 0.1)) / 24) ? 5 * wave : wave
  })
  const sum = weights.reduce((a, b) => a + b, 0)
  let reached = 0
  return weights.map((weight, batch) => {
    reached += weight
    return batch === batches - 1 ? transactions : Math.floor((transactions * reached) / sum)
  })
}

/** The total is less than the day would cost: it is used up in the evening. */
function settingsFor(transactions) {
  const average = KINDS.reduce((sum, { cost, share }) => sum + (cost * share) / 100, 0)
  return {
    payer: '0.0.2',
    unit: { name: 'HBAR', decimals: 8 },
    window: { length: DAY_US, align: 'epoch' },
    total: BigInt(Math.floor(transactions * average * 0.55)),
    tiers: { BASIC: 300_000_000n, EXTENDED: 30_000_000_000n, PRIVILEGED: 'unlimited' },
    ipCeiling: 1_500_000_000n,
    linkIp: false,
    categories: new Map(),
    holdFor: 2 * 3_600_000_000,
    rememberFor: 3 * 3_600_000_000,
    operator: { minBalance: 0n, maxAge: 600_000_000, stale: 'ignore' },
  }
}

const partners = () =>
  Array.from({ length: PARTNERS }, (_, partner) => ({
    id: `partner-${partner}`,
    ethAddresses: Array.from({ length: MEMBERS }, (_, n) => addressOf(partner * MEMBERS + n)),
    subscriptionType: partner % 5 === 0 ? 'PRIVILEGED' : 'EXTENDED',
  }))

const addressOf = (user) => `0x${(user + 1).toString(16).padStart(40, '0')}`

/** Four users of the general public share an address, as behind a router. */
const ipOf = (user) => {
  const host = user < PAID_BY_FILE ? user : PAID_BY_FILE + (user >> 2)
  return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`
}

function kindOf(point) {
  let reached = 0
  for (const kind of KINDS) {
    reached += kind.share
    if (point < reached) return kind
  }
  return KINDS[0]
}

/** 32 bits that look like chance and are not. */
function hash(...numbers) {
  let mixed = 0x9e3779b9
  for (const number of numbers) {
    mixed = Math.imul(mixed ^ number, 0x85ebca6b)
    mixed ^= mixed >>> 13
    mixed = Math.imul(mixed, 0xc2b2ae35)
    mixed ^= mixed >>> 16
  }
  return mixed >>> 0
}
