import { expect, test } from 'vitest'
import { configFolder } from '../../test/support/config-folder.ts'
import { systemClock } from '../lib/clock.ts'
import { fakeClock } from '../testing/index.ts'
import { runCommand } from './run.ts'

const run = async (...words: string[]) => {
  const out: string[] = []
  const err: string[] = []
  const terminal = {
    out: (text: string) => out.push(text),
    bytes: () => undefined,
    err: (text: string) => err.push(text),
  }
  const signals = { onReload: () => {}, ended: async () => 'SIGTERM' }
  const clock = words[0] === 'rates' ? systemClock : fakeClock()
  const exit = await runCommand(words, { environment: {}, terminal, clock, signals })
  return { exit, out: out.join('\n'), err: err.join('\n') }
}

test.each([
  [['sreve'], 'COMMAND_UNKNOWN', '"sreve" (did you mean serve?)'],
  [['limits'], 'COMMAND_UNKNOWN', 'must be one of limits list, limits show, found "limits"'],
  [['tokens', 'add'], 'COMMAND_UNKNOWN', 'must be one of tokens new, found "tokens add"'],
  [['serve', '--prot', '1'], 'FLAG_UNKNOWN', '--prot (did you mean --port?)'],
  [['serve', '-p', '1'], 'FLAG_UNKNOWN', 'found -p'],
  [['serve', '--port'], 'FLAG_VALUE_MISSING', '--port: needs a value: --port PORT'],
  [['serve', '--port', '--host'], 'FLAG_VALUE_MISSING', '--port: needs a value'],
  [['serve', '--port', '1', '--port', '2'], 'FLAG_REPEATED', '--port: may stand once'],
  [['serve', '--json=yes'], 'FLAG_VALUE_INVALID', '--json: is a switch and takes no value'],
  [['serve', 'now'], 'OPERAND_UNEXPECTED', 'is written headgate serve [flags], found "now"'],
  [['spend', 'Foos'], 'OPERAND_MISSING', 'is written headgate spend LIMIT ID [flags], found no'],
  [['refund', 'Foos'], 'OPERAND_MISSING', 'needs LIMIT and ID, or --operation'],
  [['spend', 'Foos', '192.0.2.1', '--cost', '1.5'], 'FLAG_VALUE_INVALID', '--cost: must be a wh'],
  [['help', 'sreve'], 'COMMAND_UNKNOWN', 'did you mean serve?'],
  [['lint'], 'OPERAND_MISSING', 'is written headgate lint FILE… [flags]'],
  [['serve', '--cofnig=x'], 'FLAG_UNKNOWN', '--cofnig (did you mean --config?)'],
])('%j is a mistake that says how it is written', async (words, code, message) => {
  const { exit, out, err } = await run(...words)
  expect(err).toMatch(new RegExp(`^error ${code}: `))
  expect(err).toContain(message)
  expect({ exit, out }).toEqual({ exit: 1, out: '' })
})

test('with --json a mistake is an object, also where --json itself was not understood', async () => {
  const { err } = await run('sreve', '--json')
  expect(JSON.parse(err)).toMatchObject({
    error: { code: 'COMMAND_UNKNOWN', thing: 'the command', message: expect.any(String) },
  })
})

test('behind -- a word is an operand, whatever it looks like', async () => {
  const config = 'examples/quickstart/headgate.yml'
  const words = ['spend', 'Foos', '--config', config, '--store', 'memory:', '--', '--help']
  expect((await run(...words)).err).toMatch(/^error LIMIT_UNKNOWN: /)
})

test('help of a command is the same before and behind it', async () => {
  const [one, two] = [await run('help', 'lint'), await run('lint', '--help')]
  expect(one).toEqual(two)
  expect(one.out).toMatch(/^Usage: headgate lint FILE… \[flags\]/)
})

test('help in JSON lists every command with its flags', async () => {
  const { commands } = JSON.parse((await run('help', '--json')).out)
  expect(commands).toContainEqual(
    expect.objectContaining({ name: 'serve', flags: expect.any(Array) }),
  )
})

test('what others wrote moves no cursor and makes no row of its own', async () => {
  const { path } = configFolder({ 'headgate.yml': 'store: sqlite:./headgate.db\nsubjects: {}\n' })
  const here = ['--config', `${path}/headgate.yml`, '--store', `sqlite:${path}/headgate.db`]
  const reason = '\u001b[2J\u009b2J\r\u202ekcolb\nforged.test  9'
  await run('rates', 'add', 'evil.test', '0', '--reason', reason, ...here)
  for (const words of [['query'], ['explain', 'evil.test']]) {
    const { out } = await run('rates', ...words, ...here)
    expect(out).toContain('\\u001b[2J\\u009b2J\\u000d\\u202ekcolb\\u000aforged.test  9')
    expect(out.split('\n').some((line) => line.startsWith('forged'))).toBe(false)
  }
  const { out } = await run('rates', 'query', '--json', ...here)
  expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  expect(JSON.parse(out).rates[0].reason).toBe(reason)
})
