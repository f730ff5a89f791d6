/** What the routes of spending answer where nobody spends. */
import type { SpendingDesk } from '../spending/spending-desk.ts'
import type { HttpContext } from './context.ts'
import { httpMistake } from './mistake.ts'

export const requireDesk = ({ headgate }: HttpContext): SpendingDesk => {
  const { spending } = headgate
  if (spending !== undefined) return spending
  throw httpMistake({
    code: 'SPENDING_OFF',
    thing: 'spending',
    rule: 'is configured by a section of that name in headgate.yml, or by HBAR_RATE_LIMIT_TINYBAR',
    finding: 'neither',
  })
}
