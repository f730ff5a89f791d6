/** What everyone hears who asks for subjects where nobody administers any. */
import type { HeadgateError } from '../../core/index.ts'
import { httpMistake } from '../http/mistake.ts'
import type { HttpErrorCode } from '../problems.ts'

export const subjectsOff = (): HeadgateError<HttpErrorCode> =>
  httpMistake({
    code: 'SUBJECTS_OFF',
    thing: 'subjects',
    rule: 'are administered only where headgate.yml has a section of that name',
    finding: 'none',
  })
