/** What is answered is on the disk: seen from outside the process, by what it asks of the system. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { scratchFile } from '../support/scratch-file.ts'
import { ROOT } from '../support/sources.ts'
import { canTrace } from '../support/tracing.ts'

const COMMITS = 20

test.skipIf(!canTrace)(
  'SQLite syncs its log before every answer (needs strace, and the right to trace)',
  () => {
    const trace = scratchFile()
    execFileSync('strace', [
      ...['-f', '-o', trace, '-e', 'trace=fsync,fdatasync,write', '-e', 'signal=none'],
      ...[process.execPath, `${ROOT}test/faults/children/committer.js`],
      ...[scratchFile(), String(COMMITS)],
    ])
    const [, events = ''] = eventsOf(readFileSync(trace, 'utf8')).split('open')
    const beforeAnswers = events.split('answer').slice(0, -1)
    expect(beforeAnswers).toHaveLength(COMMITS)
    expect(beforeAnswers.filter((since) => !since.includes('sync'))).toEqual([])
  },
)

/** `open sync answer sync answer …`, in the order in which the system saw them. */
function eventsOf(trace: string): string {
  const events = trace.split('\n').flatMap((line) => {
    if (/\bf(?:data)?sync\(.*= 0$|<\.\.\. f(?:data)?sync resumed>.*= 0$/.test(line)) return ['sync']
    if (/\bwrite\(1, "answered /.test(line)) return ['answer']
    return /\bwrite\(1, "open/.test(line) ? ['open'] : []
  })
  return events.join(' ')
}
