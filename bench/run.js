/** `npm run bench [-- NAME… [--rounds N]]`: measures row groups, all by default, and writes RESULTS.md. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeMachine } from './machine.js'
import { providePackages } from './provide.js'
import { describeTable } from './report.js'
import { writeResults } from './results-file.js'
import { takeTurns } from './rounds.js'

/** Fewer would leave a median that one bad moment decides. */
const MIN_ROUNDS = 5

/** More would take longer than anybody waits. */
const MAX_ROUNDS = 100

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url))

const say = (text) => console.log(text)

const main = async () => {
  const known = readdirSync(new URL('rows/', import.meta.url)).map((file) => file.slice(0, -3))
  const { names, rounds } = readArguments(known)
  providePackages(say)
  say('building dist/ from src/')
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: ROOT, stdio: 'inherit' })
  const machine = describeMachine()
  const sections = new Map()
  for (const name of names) sections.set(name, await measureGroup(name, rounds, machine))
  writeResults(RESULTS, sections, known)
  say('written: bench/RESULTS.md')
}

const readArguments = (known) => {
  const options = { rounds: { type: 'string', default: '7' } }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new RangeError(`a row group must be one of ${known.join(', ')}; found ${unknown}`)
  }
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < MIN_ROUNDS || rounds > MAX_ROUNDS) {
    throw new RangeError(`--rounds must be ${MIN_ROUNDS} to ${MAX_ROUNDS}; found ${values.rounds}`)
  }
  return { names: positionals.length === 0 ? known : [...new Set(positionals)], rounds }
}

const measureGroup = async (name, rounds, machine) => {
  const { tables, prepare = () => {}, peers, end = () => {} } = await import(`./rows/${name}.js`)
  await prepare(say)
  const facts = `${rounds} rounds. ${machine} With ${peers()}.`
  const texts = []
  try {
    for (const table of tables) {
      say(`\n${table.title}`)
      const text = describeTable(table, await takeTurns(table, { rounds, say }), facts)
      say(`\n${text}`)
      texts.push(text)
    }
  } finally {
    await end()
  }
  return texts.join('\n')
}

try {
  await main()
} catch (error) {
  console.error(`bench: ${error instanceof RangeError ? error.message : error.stack}`)
  process.exitCode = 1
}
