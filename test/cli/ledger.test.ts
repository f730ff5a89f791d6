/** `ledger verify` and `ledger export`, as typed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { headgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const CONFIG = `
spending:
  payer: 0.0.2
  total: 1000
  window: 365d
  tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }
`

/** A ledger of four entries, and its export. */
const place = async () => {
  const cwd = configFolder({ 'headgate.yml': CONFIG }).path
  const run = (...words: readonly string[]) => headgate(words, { cwd })
  for (const words of [
    ['create', 'guest', '--tier', 'BASIC'],
    ['grant', 'guest', '25', '--reason', 'fair'],
    ['deactivate', 'guest'],
    ['activate', 'guest'],
  ]) {
    expect((await run('plans', ...words)).exit).toBe(0)
  }
  const file = join(cwd, 'ledger.jsonl')
  const { out } = await run('ledger', 'export')
  writeFileSync(file, out)
  const head = /head (\d+:\S+)/.exec((await run('ledger', 'verify')).out)?.[1] ?? ''
  const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n')
  const verify = (changed: readonly string[], ...words: readonly string[]) => {
    writeFileSync(file, `${changed.join('\n')}\n`)
    return run('ledger', 'verify', '--export', file, ...words)
  }
  return { run, head, lines, verify }
}

describe('ledger on the command line', () => {
  test('verifies the store, tells the head, and takes it back as an anchor', async () => {
    const { run, head } = await place()
    expect(head).toMatch(/^4:[\w-]{43}$/)
    expect(await run('ledger', 'verify', '--anchor', head)).toMatchObject({
      exit: 0,
      out: expect.stringMatching(
        /the anchor holds.*\n.*\n4 ledger entries, \d+ accounts: they agree/,
      ),
    })
    const other = await run('ledger', 'verify', '--anchor', head.replace(/.$/, 'x'))
    expect([other.exit, other.out]).toEqual([1, expect.stringContaining('anchor-differs: entry 4')])
    const wrong = await run('ledger', 'verify', '--anchor', 'abc')
    expect(wrong.err).toContain('FLAG_VALUE_INVALID')
  })

  test('verifies an export, and tells an edit, a cut and a file that was hashed anew apart', async () => {
    const { head, lines, verify } = await place()
    const whole = lines()
    expect(await verify(whole, '--anchor', head)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('4 exported entries: the chain holds'),
    })
    const edited = await verify(whole.with(1, whole[1]?.replace('fair', 'none') ?? ''))
    expect([edited.exit, edited.out]).toEqual([1, expect.stringContaining('edited: line 2')])
    const cut = await verify(whole.toSpliced(1, 1))
    expect([cut.exit, cut.out]).toEqual([1, expect.stringContaining('cut: line 2: entry 2')])
    const shorter = await verify(whole.slice(0, 3), '--anchor', head)
    expect([shorter.exit, shorter.out]).toEqual([
      1,
      expect.stringContaining('cut: line 4: it ends at entry 3'),
    ])
    expect((await verify(whole.slice(0, 3))).exit).toBe(0)
  })

  test('a file that is not there is a mistake', async () => {
    const { run } = await place()
    const gone = await run('ledger', 'verify', '--export', 'gone.jsonl')
    expect(gone.err).toContain('FILE_UNREADABLE')
  })

  test('a spreadsheet gets one row a move', async () => {
    const { run } = await place()
    const { out } = await run('ledger', 'export', '--format', 'csv')
    expect(out.trimEnd().split('\n')).toHaveLength(5)
  })
})
