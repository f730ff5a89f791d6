/** The subjects of the server, or the answer that there are none. */
import type { Subjects } from '../subjects/subjects.ts'
import { subjectsOff } from '../subjects/subjects-off.ts'
import type { HttpContext } from './context.ts'

export const requireSubjects = ({ headgate }: HttpContext): Subjects => {
  if (headgate.subjects !== undefined) return headgate.subjects
  throw subjectsOff()
}
