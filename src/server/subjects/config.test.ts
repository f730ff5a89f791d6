import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { record } from '../../documents/settings/table.ts'
import { DEFAULT_SETTINGS } from '../config/settings.ts'
import { keyFileOf, SUBJECT_SETTINGS, subjectSettings } from './config.ts'

const read = (value: unknown) =>
  record(SUBJECT_SETTINGS).fromField(jsonField(value, 'subjects'), { folder: '/etc/headgate' })

describe('the section', () => {
  test('may be empty: the service has the name of its own key, kept beside the store', () => {
    expect(read({})).toEqual({})
    expect(read({ identity: 'did:key' })).toEqual({})
  })

  test('names a did:web and a file, which counts from the folder of headgate.yml', () => {
    expect(read({ identity: 'did:web:headgate.example', keyFile: 'ucan.key' })).toEqual({
      identity: 'did:web:headgate.example',
      keyFile: '/etc/headgate/ucan.key',
    })
  })

  test.each(['did:web:', 'did:key:z6Mk', 'headgate.example', 'did:web:a/b'])(
    'refuses the identity %s',
    (identity) => {
      const { code, message } = mistakeOf(() => read({ identity }))
      expect(code).toBe('FIELD_VALUE')
      expect(message).toContain('subjects.identity: must be did:key, or a did:web')
    },
  )
})

describe('subjects are on', () => {
  const on = { ...DEFAULT_SETTINGS, subjects: {} }

  test('by the section, or by a key in the environment', () => {
    expect(subjectSettings(on, {})).toEqual({})
    expect(subjectSettings(DEFAULT_SETTINGS, { HEADGATE_UCAN_KEY: 'Mg' })).toEqual({})
    expect(subjectSettings(DEFAULT_SETTINGS, {})).toBeUndefined()
  })

  test('with a key beside a SQLite file, for all who share the file', () => {
    expect(keyFileOf({ ...on, store: 'sqlite:/srv/hg.db' })).toBe('/srv/hg.db.key')
    expect(keyFileOf({ ...on, store: 'memory:' })).toBe(resolve('headgate.key'))
    expect(keyFileOf({ ...on, subjects: { keyFile: '/run/key' } })).toBe('/run/key')
  })
})
