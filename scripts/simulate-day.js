// Simulates a day of a busy relay: bursts, late and doubled messages, and one kill -9 at noon.
//
//   npm run simulate -- [--users N] [--transactions N] [--seed N] [--json]
//
// Exit 1 if the books do not add up afterwards.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatAmount } from '../dist/spending/index.js'
import { audit } from './simulate/audit.js'
import { planDay } from './simulate/day.js'
import { openSimulation } from './simulate/open.js'

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    transactions: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const options = {
  users: Number(values.users),
  transactions: Number(values.transactions),
  seed: Number(values.seed),
}
const day = planDay(options)
const folder = mkdtempSync(join(tmpdir(), 'headgate-day-'))
const path = join(folder, 'headgate.db')
const started = performance.now()
const counts = { admitted: 0, repeated: 0, late: 0, refused: {} }

/** Runs the relay from a batch on, to the end or until it is killed; answers the last batch that it told. */
const relay = async (from, until) => {
  const script = fileURLToPath(new URL('simulate/relay.js', import.meta.url))
  const child = spawn(process.execPath, [script, path, JSON.stringify(options), String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)))
  let last = from
  for await (const line of createInterface({ input: child.stdout })) {
    const told = JSON.parse(line)
    last = told.batch
    add(told)
    progress(last)
    if (last === until) child.kill('SIGKILL')
  }
  const code = await ended
  if (code !== 0 && code !== null) throw new Error(`the relay ended with ${code}`)
  return last
}

const add = ({ admitted, repeated, late, refused }) => {
  counts.admitted += admitted
  counts.repeated += repeated
  counts.late += late
  for (const [reason, count] of Object.entries(refused)) {
    counts.refused[reason] = (counts.refused[reason] ?? 0) + count
  }
}

const WIDTH = 40
const progress = (batch) => {
  const share = batch / day.batches
  const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░')
  const hour = String(Math.floor(share * 24)).padStart(2, '0')
  const elapsed = Math.round((performance.now() - started) / 1_000)
  const text = `${bar} ${hour}:00  ${(share * 100).toFixed(0).padStart(3)} %  ${elapsed} s`
  if (process.stderr.isTTY) process.stderr.write(`\r${text}`)
  else if (batch % Math.ceil(day.batches / 10) === 0) process.stderr.write(`${text}\n`)
}

const killedAt = await relay(0, Math.floor(day.batches / 2))
// Whatever was under way is repeated, and so is all that could still have been waiting.
const resumedAt = Math.max(0, killedAt - day.late)
await relay(resumedAt)
if (process.stderr.isTTY) process.stderr.write('\n')

const { store, spending, time } = openSimulation(path, day)
time.now = day.timeOf(day.batches) - 1
const { report, verification, checks, plans } = await audit(spending, day.settings)
await store.close()
const seconds = (performance.now() - started) / 1_000
const megabytes = statSync(path).size / 1e6
rmSync(folder, { recursive: true, force: true })

const texts = (sums) =>
  Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, `${sum}`]))
const summary = {
  ...options,
  budget: `${day.settings.total}`,
  spent: `${report.total}`,
  byOperation: texts(report.byOperation),
  byTier: texts(report.byTier),
  plans,
  ...counts,
  killedAt,
  resumedAt,
  ledgerEntries: verification.entries,
  accounts: verification.accounts,
  seconds: Math.round(seconds),
  megabytes: Math.round(megabytes),
  checks: Object.fromEntries(checks),
}

const money = (amount) => formatAmount(amount, day.settings.unit).padStart(26)
const describe = () =>
  [
    `budget ${money(day.settings.total)}`,
    `spent  ${money(report.total)}`,
    ...Object.entries(report.byOperation).map(([name, sum]) => `  ${name.padEnd(24)}${money(sum)}`),
    ...Object.entries(report.byTier).map(([name, sum]) => `  ${name.padEnd(24)}${money(sum)}`),
    `${counts.admitted} admitted, refused ${JSON.stringify(counts.refused)}`,
    `killed in batch ${killedAt} of ${day.batches}, repeated from batch ${resumedAt}`,
    `${verification.entries} ledger entries, ${verification.accounts} accounts, ${plans} plans, ${summary.megabytes} MB`,
    `${options.transactions} transactions of ${options.users} users in ${summary.seconds} s`,
    ...checks.map(([what, holds]) => `${holds ? 'yes' : 'NO '}  ${what}`),
  ].join('\n')

console.log(values.json ? JSON.stringify(summary, undefined, 2) : describe())
process.exitCode = checks.every(([, holds]) => holds) ? 0 : 1
