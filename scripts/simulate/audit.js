// What the books say when the day is over, and whether it adds up. Every check is to the tinybar.

export const audit = async (spending, settings) => {
  const verification = await spending.verify()
  const report = await spending.report()
  const ledger = await readLedger(spending)
  const sum = (sums) => Object.values(sums).reduce((total, amount) => total + amount, 0n)
  const checks = [
    ['total spent is within the budget', report.total <= settings.total],
    ['operations add up to it', sum(report.byOperation) === report.total],
    ['families add up to it', sum(report.byFamily) === report.total],
    ['modes add up to it', sum(report.byMode) === report.total],
    ['tiers add up to it', sum(report.byTier) === report.total],
    ['plans add up to it', sum(Object.fromEntries(ledger.byPlan)) === report.total],
    ['the ledger adds up to it', ledger.spent === report.total],
    ['the books agree with the ledger', verification.findings.length === 0],
    ['no hold is left open', (await spending.overview()).held === 0n],
    ['no transaction was charged twice', ledger.twice.length === 0],
    ['no plan is over its limit', (await overLimit(spending, ledger.byPlan)).length === 0],
  ]
  return { report, verification, checks, plans: ledger.byPlan.size }
}

async function readLedger(spending) {
  const byPlan = new Map()
  const settled = new Set()
  const twice = []
  let spent = 0n
  for await (const line of spending.export('jsonl')) {
    const { moves, party, hold, operationId } = JSON.parse(line)
    const amount = movedTo('spent', moves) - movedFrom('spent', moves)
    if (amount === 0n) continue
    const name = operationId ?? `settlement of ${hold}`
    if (settled.has(name)) twice.push(name)
    settled.add(name)
    spent += amount
    byPlan.set(party.plan, (byPlan.get(party.plan) ?? 0n) + amount)
  }
  return { byPlan, spent, twice }
}

const movedTo = (pot, moves) => sumOf(moves.filter(({ to }) => to === pot))
const movedFrom = (pot, moves) => sumOf(moves.filter(({ from }) => from === pot))
const sumOf = (moves) => moves.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

async function overLimit(spending, byPlan) {
  const over = []
  for (const plan of byPlan.keys()) {
    const { remaining } = await spending.plan(plan)
    if (remaining !== 'unlimited' && remaining < 0n) over.push(plan)
  }
  return over
}
