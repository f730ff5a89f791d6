import { expect, test } from 'vitest'
import { seconds } from '../../core/time.ts'
import { openPostgres } from './database.ts'
import { postgres } from './store.ts'

test.each(['postgres:', 'mysql://localhost/a', 'secret', 'postgres://a b/c', ''])(
  'the URL %j is refused, without a word of what may be a password',
  (url) => {
    expect(() => openPostgres(url, seconds(1))).toThrow(
      expect.objectContaining({ code: 'POSTGRES_URL_INVALID' }),
    )
    expect(() => openPostgres(url, seconds(1))).not.toThrow('secret')
  },
)

test.each(['Headgate', 'a b', 'a";DROP', 'pg_own', '1a', '', 'x'.repeat(64)])(
  'the schema %j is refused: it becomes part of statements',
  (schema) => {
    expect(() => postgres({ url: 'postgres://localhost/a', schema })).toThrow(
      expect.objectContaining({ code: 'POSTGRES_SCHEMA_INVALID' }),
    )
  },
)
