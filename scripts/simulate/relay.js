// The relay: works through a day from one batch on, and says after each what came of it. It may be
// killed at any moment; started again a little earlier, it repeats itself and nothing counts twice.
import { planDay } from './day.js'
import { openSimulation } from './open.js'

const [, , path, options, from] = process.argv
const day = planDay(JSON.parse(options))
const { spending, store, time } = openSimulation(path, day)

/** Settlements by the batch in which they come. */
const due = new Map()

const hold = async (number, batch, counts) => {
  const transaction = day.transaction(number)
  const ask = { ...transaction.ask, operationId: transaction.id, transactionId: transaction.id }
  const answers = await Promise.all(
    transaction.heldTwice ? [spending.hold(ask), spending.hold(ask)] : [spending.hold(ask)],
  )
  if (answers.some(({ replayed }) => replayed === true)) counts.repeated += 1
  const [{ allowed, reason, holdId }] = answers
  if (!allowed) {
    counts.refused[reason] = (counts.refused[reason] ?? 0) + 1
    return
  }
  counts.admitted += 1
  const at = Math.min(batch + transaction.settlesAfter, day.batches)
  due.set(at, [...(due.get(at) ?? []), { transaction, holdId }])
}

const settle = async ({ transaction, holdId }, counts) => {
  const { id, spent, failed, inParts, settledTwice } = transaction
  if (failed) return spending.release({ holdId })
  if (inParts) {
    const amount = spent / 3n
    await spending.capture({ holdId, amount, operationId: `${id}-first`, transactionId: id })
  }
  const ask = { holdId, amount: spent, transactionId: id }
  const answers = await Promise.all(
    settledTwice ? [spending.settle(ask), spending.settle(ask)] : [spending.settle(ask)],
  )
  counts.late += answers[0].late ? 1 : 0
}

for (let batch = Number(from); batch <= day.batches; batch++) {
  const counts = { batch, admitted: 0, repeated: 0, late: 0, refused: {} }
  // The last settlements come in the last second of the day.
  time.now = batch === day.batches ? day.timeOf(batch) - 1_000_000 : day.timeOf(batch)
  const settlements = due.get(batch) ?? []
  due.delete(batch)
  const work = settlements.map((settlement) => settle(settlement, counts))
  if (batch < day.batches) {
    const { first, end } = day.numbersOf(batch)
    for (let number = first; number < end; number++) work.push(hold(number, batch, counts))
  }
  await Promise.all(work)
  process.stdout.write(`${JSON.stringify(counts)}\n`)
}
await store.close()
