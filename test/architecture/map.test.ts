/** ARCHITECTURE.md is true: its paths exist, its answers hold, its walks are what runs. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { WALK_NAMES, walk } from '../../scripts/walks.js'
import { ROOT, sources } from '../support/sources.ts'

const map = readFileSync(`${ROOT}ARCHITECTURE.md`, 'utf8')
const [prose = '', walks = ''] = map.split('\n## Five walks\n')

test('every path on the map exists', () => {
  const named = [...prose.matchAll(/`((?:src|test|bench|examples|docs|scripts)\/[\w./-]*)`/g)]
  expect(named.length).toBeGreaterThan(25)
  const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(ROOT + path))
  expect(missing).toEqual([])
})

test('every file that CONTRIBUTING names exists, within src/ or beside it', () => {
  const text = readFileSync(`${ROOT}CONTRIBUTING.md`, 'utf8')
  const named = [...text.matchAll(/`((?:\w[\w-]*\/)+[\w.-]+\.(?:ts|js|md|json))`/g)]
  expect(named.length).toBeGreaterThan(9)
  const paths = named.map(([, path = '']) => path)
  const missing = paths.filter(
    (path) => !existsSync(ROOT + path) && !existsSync(`${ROOT}src/${path}`),
  )
  expect(missing).toEqual([])
})

test('every file that a room is said to hold is in it', () => {
  const rooms = [...prose.matchAll(/^\*\*`src\/(\w+)\/`\*\*(.*)$/gm)]
  expect(rooms.length).toBeGreaterThan(9)
  const paths = sources().map(({ path }) => path)
  for (const [, room = '', text = ''] of rooms) {
    const files = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => file)
    for (const file of files) {
      const found = paths.filter((path) => path.endsWith(`/${file}`))
      expect(found, `${room}: ${file}`).not.toEqual([])
    }
  }
})

test('every room of src/ is on the map', () => {
  const rooms = new Set(sources().map(({ path }) => path.replace(/^(src\/\w+\/).*/, '$1')))
  for (const room of rooms) expect(prose).toContain(`\`${room}\``)
})

/** What the file of each answer must hold, so that a stranger who opens it finds the thing itself. */
const ANSWERS: Readonly<Record<string, RegExp>> = {
  'the rule that admits a request?': /used \+ cost \* interval <= capacity/,
  'how a batch across several limits is refused?': /export const allOrNothing/,
  'how long an operation id is remembered for requests?': /rememberFor: days\(1\)/,
  'which forms the id of a limit can have?': /export const ID_FORMATS/,
  'the default of a key of headgate.yml?': /default: 8080/,
  'the HTTP status of an error?': /LIMIT_UNKNOWN: row\(400/,
  'when a spending window starts?': /startOfDay\(zone/,
  'in which order budgets may refuse a payment?':
    /'TOTAL_BUDGET'[\s\S]*'CATEGORY_LIMIT'[\s\S]*'PLAN_LIMIT'/,
  'which other subjects a block covers?': /coveringForms/,
  'when an attempt at a PIN is charged?': /export const chargeStep/,
}

describe('where would I change …', () => {
  const rows = [...prose.matchAll(/^\| (.+\?) \| `(.+)` \|$/gm)]

  test('ten questions are answered', () => {
    expect(rows.map(([, question]) => question)).toEqual(Object.keys(ANSWERS))
  })

  test.each(rows.map(([, question = '', file = '']) => [question, file] as const))(
    '%s %s',
    (question, file) => {
      expect(readFileSync(ROOT + file, 'utf8')).toMatch(ANSWERS[question] ?? /nothing/)
    },
  )
})

describe('the walks', () => {
  /** Files before rooms were cut by concept, counted in the same way. */
  const BEFORE: Readonly<Record<string, number>> = {
    spend: 44,
    override: 46,
    block: 26,
    hold: 60,
    pin: 53,
  }

  test.each(WALK_NAMES)('%s is as the map lists it, two thirds of what it was', async (name) => {
    const [, section = ''] = walks.split(`(\`${name}\`, `)
    const [, files = ''] = section.split('```')
    const listed = files.trim().split('\n')
    expect(listed).toEqual((await walk(name)).map((path) => path.replace(/^src\//, '')))
    expect(section).toMatch(new RegExp(`^${listed.length} files`))
    expect(listed.length).toBeLessThanOrEqual(Math.floor(((BEFORE[name] ?? 0) * 2) / 3))
  })
})
