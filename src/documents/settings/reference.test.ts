import { expect, test } from 'vitest'
import { seconds } from '../../core/time.ts'
import { duration, filePath, listOf, oneOf, trueOrFalse } from './reader.ts'
import { flagsOf, rowsOf, variablesOf } from './reference.ts'
import { schemaOf } from './schema.ts'
import { record, settingsTable } from './table.ts'

const TABLE = settingsTable({
  colour: {
    reader: oneOf(['red', 'blue']),
    default: 'red',
    flag: 'colour COLOUR',
    variable: 'SHOP_COLOUR',
    sentence: 'One of `red` and `blue`, see [colours](#colours).',
  },
  file: { reader: filePath, flag: 'file FILE', inFile: false, sentence: 'The file.' },
  loud: { reader: trueOrFalse, default: false, flag: 'loud', reloads: true, sentence: 'Loud.' },
  tags: { reader: listOf(oneOf(['a']), 3), default: [], sentence: 'Tags.' },
  box: {
    short: 'wait',
    needs: ['wait'],
    sentence: 'The box.',
    section: {
      wait: {
        reader: duration,
        default: seconds(90),
        variable: 'SHOP_WAIT',
        reloads: true,
        sentence: 'How long.',
      },
    },
  },
  label: {
    reader: record(
      settingsTable({ text: { reader: filePath, required: true, sentence: 'Text.' } }),
    ),
    unset: 'off',
    reloads: true,
    sentence: 'A label.',
  },
})

test('a flag says what the setting means, and its default', () => {
  expect(flagsOf(TABLE)).toEqual([
    { name: 'colour', value: 'COLOUR', summary: 'One of red and blue, see colours. Default: red.' },
    { name: 'file', value: 'FILE', summary: 'The file.' },
    { name: 'loud', summary: 'Loud.' },
  ])
  expect(flagsOf(TABLE, ['file']).map(({ name }) => name)).toEqual(['file'])
})

test('variables of sections are among the variables', () => {
  expect(variablesOf(TABLE)).toEqual(['SHOP_COLOUR', 'SHOP_WAIT'])
})

test('a row says everything there is to say, for keys inside of keys too', () => {
  expect(rowsOf(TABLE)[0]).toEqual({
    key: 'colour',
    default: '`red`',
    flag: '--colour',
    variable: 'SHOP_COLOUR',
    sentence: 'One of `red` and `blue`, see [colours](#colours).',
    change: 'restart',
  })
  expect(rowsOf(TABLE).map((row) => [row.key, row.default, row.change])).toEqual([
    ['colour', '`red`', 'restart'],
    ['', 'none', 'restart'],
    ['loud', '`false`', 'at once'],
    ['tags', 'none', 'restart'],
    ['box.wait', '`90s`', 'at once'],
    ['label', 'off', 'at once'],
    ['label.text', '', 'at once'],
  ])
})

test('the schema has the keys of the file, their sentences and their defaults', () => {
  const { schema, definitions } = schemaOf(TABLE)
  const { duration: text } = definitions
  expect(text).toMatchObject({ type: 'string' })
  expect(schema).toEqual({
    type: 'object',
    additionalProperties: false,
    properties: {
      colour: {
        description: 'One of red and blue, see colours.',
        enum: ['red', 'blue'],
        default: 'red',
      },
      loud: { description: 'Loud.', type: 'boolean', default: false },
      tags: {
        description: 'Tags.',
        type: 'array',
        maxItems: 3,
        items: { enum: ['a'] },
        default: [],
      },
      box: {
        description: 'The box.',
        oneOf: [
          { $ref: '#/definitions/duration' },
          {
            type: 'object',
            additionalProperties: false,
            required: ['wait'],
            properties: {
              wait: {
                description: 'How long.',
                $ref: '#/definitions/duration',
                default: '90s',
              },
            },
          },
        ],
      },
      label: {
        description: 'A label.',
        type: 'object',
        additionalProperties: false,
        required: ['text'],
        properties: { text: { description: 'Text.', type: 'string', minLength: 1 } },
      },
    },
  })
})
