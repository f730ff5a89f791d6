/** Taking turns: all variants of a table, one after another in each round, in a new order each time. */
import { LeftOut } from './left-out.js'
import { shuffle } from './stats.js'

/**
 * The samples of each variant, in decisions a second, by round. All are prepared before the first
 * round and stay until the last; who is not measured is idle.
 */
export const takeTurns = async ({ variants }, { rounds, say }) => {
  const entries = variants.map((variant) => ({ variant, samples: [], leftOut: undefined }))
  try {
    for (const entry of entries) await prepare(entry, say)
    const ready = entries.filter(({ leftOut }) => leftOut === undefined)
    for (const { variant } of ready) {
      say(`  warm-up: ${variant.name}`)
      await variant.run()
    }
    for (let round = 1; round <= rounds; round++) {
      say(`  round ${round} of ${rounds}`)
      for (const { variant, samples } of shuffle(ready)) {
        const rate = await variant.run()
        say(`    ${variant.name}: ${Math.round(rate).toLocaleString('en')} a second`)
        samples.push(rate)
      }
    }
    return entries.map(({ variant, samples, leftOut }) => ({
      name: variant.name,
      samples,
      leftOut,
      note: variant.note?.(),
    }))
  } finally {
    for (const { variant } of entries) await variant.dispose()
  }
}

const prepare = async (entry, say) => {
  say(`  preparing: ${entry.variant.name}`)
  try {
    await entry.variant.prepare()
  } catch (error) {
    if (!(error instanceof LeftOut)) throw error
    entry.leftOut = error.message
    say(`  left out: ${entry.variant.name}: ${error.message}`)
  }
}
