/** The pOPRF runs in browsers and React Native: nothing that its door leads to knows Node. */
import { expect, test } from 'vitest'
import { imports, sources } from '../support/sources.ts'

const DOOR = 'src/secrets/poprf/index.ts'

const files = new Map(sources().map((file) => [file.path, file]))

const reachable = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
  const file = files.get(path)
  if (file === undefined || seen.has(path)) return seen
  seen.add(path)
  for (const { to } of imports([file])) reachable(to, seen)
  return seen
}

const behind = [...reachable(DOOR)].flatMap((path) => files.get(path) ?? [])

test('the door leads to the whole suite', () => {
  const paths = behind.map(({ path }) => path)
  for (const name of ['blind', 'evaluate', 'shares', 'curve/pairing']) {
    expect(paths).toContain(`src/secrets/poprf/${name}.ts`)
  }
})

test('and to no package but the two that need no Node either', () => {
  const packages = imports(behind).filter(({ to }) => !to.startsWith('src/'))
  const wrong = packages.filter(({ to }) => !/^@noble\/(?:curves|hashes)\//.test(to))
  expect(wrong).toEqual([])
})

test('nor to what only Node has', () => {
  const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  const wrong = behind.filter(({ text }) =>
    /\b(Buffer|process|require|__dirname)\b/.test(code(text)),
  )
  expect(wrong.map(({ path }) => path)).toEqual([])
})
