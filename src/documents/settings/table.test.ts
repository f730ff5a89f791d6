import { describe, expect, expectTypeOf, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { refuseField } from '../field.ts'
import { filePath, oneOf, trueOrFalse, wholeNumberIn } from './reader.ts'
import {
  complete,
  type FlagOf,
  fileKeysOf,
  fromDocument,
  fromTexts,
  record,
  type SettingsOf,
  settingsTable,
} from './table.ts'

const size = wholeNumberIn({ min: 1, max: 100 })

const TABLE = settingsTable({
  colour: {
    reader: oneOf(['red', 'blue']),
    default: 'red',
    flag: 'colour COLOUR',
    variable: 'SHOP_COLOUR',
    sentence: 'The colour.',
  },
  file: { reader: filePath, flag: 'file FILE', sentence: 'The file.' },
  loud: { reader: trueOrFalse, default: false, flag: 'loud', inFile: false, sentence: 'Loud.' },
  box: {
    short: 'width',
    needs: ['width'],
    section: {
      width: { reader: size, default: 10, variable: 'SHOP_WIDTH', sentence: 'How wide.' },
      depth: { reader: size, sentence: 'How deep.' },
    },
    check: (field, { width, depth }) => {
      if (width === depth) refuseField(field, 'FIELD_VALUE', 'must not be square')
    },
  },
  label: {
    reader: record(
      settingsTable({
        text: { reader: oneOf(['sale', 'new']), required: true, sentence: 'The text.' },
        points: { reader: size, default: 12, sentence: 'How large.' },
      }),
    ),
    sentence: 'A label.',
  },
})

const file = (value: unknown, folder?: string) =>
  fromDocument(TABLE, jsonField(value, 'shop'), folder === undefined ? {} : { folder })

const RULES = { code: 'SHOP_WRONG' }

test('the type of the settings follows from the table', () => {
  expectTypeOf<SettingsOf<typeof TABLE>>().toEqualTypeOf<{
    readonly colour: 'red' | 'blue'
    readonly file?: string
    readonly loud: boolean
    readonly box: { readonly width: number; readonly depth?: number }
    readonly label?: { readonly text: 'sale' | 'new'; readonly points: number }
  }>()
  expectTypeOf<FlagOf<typeof TABLE>>().toEqualTypeOf<'colour' | 'file' | 'loud'>()
})

test('a default that its reader would refuse does not compile', () => {
  // @ts-expect-error green is none of the words
  settingsTable({ colour: { reader: oneOf(['red']), default: 'green', sentence: '' } })
})

describe('a document', () => {
  test('gives what it holds, and no more', () => {
    expect(file({})).toEqual({})
    expect(file({ colour: 'blue', box: { width: 3 } })).toEqual({
      colour: 'blue',
      box: { width: 3 },
    })
  })

  test('may hold the keys of the file only, with a suggestion for others', () => {
    expect(fileKeysOf(TABLE)).toEqual(['colour', 'file', 'box', 'label'])
    expect(mistakeOf(() => file({ color: 'red' }))).toMatchObject({
      code: 'FIELD_UNKNOWN',
      rule: 'may hold only colour, file, box, label',
      finding: '"color" (did you mean colour?)',
    })
    expect(mistakeOf(() => file({ loud: true })).code).toBe('FIELD_UNKNOWN')
  })

  test('names a key after the maps that hold it, unless the caller names it', () => {
    expect(mistakeOf(() => file({ box: { width: 0 } })).thing).toBe('shop.box.width')
    const reading = () =>
      fromDocument(TABLE, jsonField({ box: { width: 0 } }, 'shop.yml'), { nameOf: (key) => key })
    expect(mistakeOf(reading).thing).toBe('box.width')
  })

  test('may hold a single value for a section that allows it', () => {
    expect(file({ box: 5 })).toEqual({ box: { width: 5 } })
    expect(mistakeOf(() => file({ box: 0 })).thing).toBe('shop.box')
  })

  test('must hold what a section needs, and keep the rules between its keys', () => {
    expect(mistakeOf(() => file({ box: { depth: 5 } }))).toMatchObject({
      code: 'FIELD_MISSING',
      thing: 'shop.box',
      rule: 'must hold width',
    })
    expect(mistakeOf(() => file({ box: { width: 5, depth: 5 } })).rule).toBe('must not be square')
  })

  test('gives a record whole: with its defaults, and nothing required missing', () => {
    expect(file({ label: { text: 'new' } })).toEqual({ label: { text: 'new', points: 12 } })
    expect(mistakeOf(() => file({ label: {} })).rule).toBe('must hold text')
  })
})

describe('flags and variables', () => {
  test('are read by the reader of the file; a flag wins', () => {
    const environment = { SHOP_COLOUR: 'red', SHOP_WIDTH: '7' }
    const sources = { flags: { colour: 'blue', loud: 'true' }, environment }
    expect(fromTexts(TABLE, sources, RULES)).toEqual({
      colour: 'blue',
      loud: true,
      box: { width: 7 },
    })
    expect(fromTexts(TABLE, {}, RULES)).toEqual({})
  })

  test('are refused under the name that was used', () => {
    const environment = { SHOP_WIDTH: 'wide' }
    expect(mistakeOf(() => fromTexts(TABLE, { environment }, RULES))).toMatchObject({
      code: 'SHOP_WRONG',
      thing: 'SHOP_WIDTH',
    })
  })

  test('must give what is required', () => {
    const table = settingsTable({
      key: {
        reader: filePath,
        required: true,
        flag: 'key FILE',
        variable: 'SHOP_KEY',
        sentence: 'The key.',
      },
    })
    expect(fromTexts(table, { flags: { key: 'k' } }, RULES)).toEqual({ key: 'k' })
    expect(mistakeOf(() => fromTexts(table, {}, RULES))).toMatchObject({
      code: 'SHOP_WRONG',
      thing: '--key',
      rule: 'must be given, here or as SHOP_KEY',
    })
  })
})

test('later sources win key by key, inside sections too, and the rest has its default', () => {
  const settings = complete(
    TABLE,
    { colour: 'blue', box: { width: 3, depth: 4 } },
    { colour: undefined, box: { width: 5 } },
  )
  expect(settings).toEqual({ colour: 'blue', loud: false, box: { width: 5, depth: 4 } })
  expect(complete(TABLE)).toEqual({ colour: 'red', loud: false, box: { width: 10 } })
})
