import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../test/support/counts.ts'
import { readYaml } from './document.ts'
import { MAX_DEPTH } from './node.ts'
import { readPlainYaml } from './plain-yaml.ts'

const read = (text: string) => readPlainYaml(text, 'test.yml')

describe('what it reads, it reads as the YAML library does, positions included', () => {
  test.each([
    ['maps in maps', 'a:\n  b:\n    c: 1\n  d: 2\ne: 3\n'],
    ['a list below its key, indented or not', 'a:\n  - x\nb:\n- y\n- z\nc: 1\n'],
    ['maps in a list, however far behind the dash', '- a: 1\n  b: 2\n-   a: 3\n    b: 4\n'],
    ['a list of a map of a list', '- ids:\n  - x\n  burst: 1\n- ids:\n    - y\n'],
    ['addresses, times and paths', '- 2001:db8::1\n- 10.0.0.1/8\n- 12:30\n- /srv/a,b\n'],
    ['text of several words', 'comment: the host, see "a & b" - ticket 1234\n'],
    ['quoted text, also as a key', '"a b": \'x: # y\'\n\'c\': "2602:80a::"\n'],
    ['a key that ends in a colon', '2602:80a:: x\n'],
    [
      'comments and empty lines anywhere',
      '# one\n\na: 1 # two\n    # three\n\nb:\n# four\n  - x\n',
    ],
    ['Windows line ends', 'a: 1\r\nb:\r\n  - x\r\n'],
    ['no line end at the end', '- a\n- b'],
    ['a document that is indented as a whole', '  a: 1\n  b: 2\n'],
    ['letters of any script', 'größe: 大きい\n'],
  ])('%s', (_, text) => {
    expect(read(text)).toBeDefined()
    expect(read(text)).toEqual(readYaml(text, 'test.yml'))
  })

  const joined = (...parts: readonly (readonly string[])[]) =>
    fc.tuple(...parts.map((choices) => fc.constantFrom(...choices))).map((texts) => texts.join(''))
  const KEYS = ['a', 'b', 'c', 'd', '"e"']
  const PLAIN = ['1', 'a b', 'x:y', 'a::', "'s'", '"q # r"', 'a - b', 'a"b']
  const ODD = [
    ...[
      '',
      '~',
      '-',
      '--',
      '---',
      '...',
      '#',
      'a#b',
      'a #b',
      '&a',
      '*a',
      '!t',
      '|',
      '>',
      '? a',
      '::1',
    ],
    ...[
      '[a]',
      '{a: b}',
      '{',
      '%Y',
      '@',
      '`',
      '<<',
      'a: b',
      '.5',
      '"\\n"',
      "'it''s'",
      'a\tb',
      '\u00a0',
    ],
  ]
  const STARTS = ['', '', '  ', '  ', '    ', '- ', '- ', '  - ', '    - ', '  -   ']
  const ENDS = ['', '', '', ' ', ' # c']
  const usual = fc.oneof(
    joined(STARTS, KEYS, [': ', ': ', ':   '], PLAIN, ENDS),
    joined(STARTS, KEYS, [':'], ENDS),
    joined(STARTS, PLAIN, ENDS),
  )
  const odd = fc.oneof(
    joined([...STARTS, ' ', '\t', '-', '- - '], [...KEYS, ...ODD], [' : ', ':', ':\t'], PLAIN, [
      '#c',
    ]),
    joined(STARTS, KEYS, [': '], ODD),
    joined(STARTS, ODD),
  )
  const line = fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: odd })
  const document = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 6 }), fc.constantFrom('\n', '\r\n'))
    .map(([lines, end]) => lines.join(end))

  test('any lines at all: the same tree, or none', () => {
    fc.assert(
      fc.property(document, (text) => {
        const tree = read(text)
        if (tree !== undefined) expect(tree).toEqual(readYaml(text, 'test.yml'))
      }),
      { numRuns: times(10_000, 1_000_000) },
    )
  })
})

describe('what it does not surely know is left to the YAML library', () => {
  test.each([
    ['nothing', ''],
    ['only comments', '# nothing\n'],
    ['a single value', 'a\n'],
    ['null', 'a:\nb: 1\n'],
    ['an empty item', '- \n- a\n'],
    ['flow style', 'a: [1, 2]\n'],
    ['an anchor', 'a: &x 1\n'],
    ['a tag', 'a: !!str 1\n'],
    ['a block of text', 'a: |\n  text\n'],
    ['text over two lines', 'a: one\n  two\n'],
    ['an escape in quotes', 'a: "\\t"\n'],
    ['a list in the line of another', '- - a\n'],
    ['two documents', 'a: 1\n---\nb: 1\n'],
    ['half of a line end', 'a: 1\r'],
    ['a tab', 'a:\n\tb: 1\n'],
    ['a key twice', 'a: 1\na: 2\n'],
    ['a line that belongs nowhere', 'a:\n    b: 1\n  c: 2\n'],
    ['a key of more than a thousand characters', `${'k'.repeat(1_001)}: 1\n`],
    ['a line of millions', `a: ${'b '.repeat(4_000_000)}\n`],
    [
      'nesting beyond the bound',
      Array.from({ length: MAX_DEPTH + 2 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
    ],
  ])('%s', (_, text) => {
    expect(read(text)).toBeUndefined()
  })
})
