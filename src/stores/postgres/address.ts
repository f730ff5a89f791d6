/** The URL of a PostgreSQL database. pg reads it; we only say early what cannot be one. */
import { postgresMistake } from './errors.ts'

export const checkPostgresUrl = (url: string): void => {
  if (/^postgres(?:ql)?:\/\/[^/?]*\/[^/?]+/.test(url) && URL.canParse(url)) return
  // Not quoted: it may hold a password.
  const rule = 'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE'
  throw postgresMistake('POSTGRES_URL_INVALID', 'store', rule, 'something else')
}
