/** A command answers the same whether it opens the store itself or asks a server. */
import { expect, test } from 'vitest'
import { headgate, type Outcome, serveHere } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const CONFIG = `
limits:
  Foos: { id: ipAddress, burst: 2, count: 1, period: 1h }
  Bars: { id: opaque, onStoreFailure: open }
  Jobs: { id: opaque, atOnce: 1, heldFor: 1h }
overrides:
  - Bars: { burst: 7, count: 7, period: 1m, ids: [ { id: ann, comment: ticket 7 } ] }
spending:
  payer: 0.0.2
  total: 1000
  window: 365d
  tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }
  plans:
    - { id: partner, name: a partner, ethAddresses: ['0xA1'], ipAddresses: [192.0.2.0/24], subscriptionType: EXTENDED }
`
const FILES = {
  'headgate.yml': CONFIG,
  'new.json': '[{"id":"partner","ethAddresses":["0xA1","0xB2"],"subscriptionType":"BASIC"}]',
  'bad.json': '[{"id":"partner","ethAddresses":["0xA1"],"subscriptionType":"GOLD"}]',
}

/** A store in which something has happened, and a server over it. */
const open = async () => {
  const here = { cwd: configFolder(FILES).path }
  for (const words of [
    ['spend', 'Foos', '192.0.2.9', '--operation', 'order-1'],
    ['plans', 'create', 'guest', '--tier', 'BASIC', '--own-limit', '50', '--name', 'a guest'],
    ['plans', 'link', 'guest', '0xC3'],
    ['plans', 'grant', 'guest', '25', '--reason', 'fair'],
  ]) {
    expect(await headgate(words, here)).toMatchObject({ exit: 0 })
  }
  const { url } = await serveHere([], here)
  await fetch(`${url}/v1/spending/record`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ from: '0xa1', amount: '450', operation: 'EthereumTransaction' }),
  })
  return { here, url }
}

test.each([
  [
    'the answers',
    0,
    [
      ['check', 'Foos', '192.0.2.1'],
      ['check', 'Foos', '192.0.2.1', '--cost', '2'],
      ['spend', 'Bars', 'bob'],
      ['limits', 'list'],
      ['limits', 'show', 'Jobs', 'x'],
      ['limits', 'show', 'Bars'],
      ['limits', 'show', 'Bars', 'ann'],
      ['limits', 'show', 'NewOrdersPerAccount', '7'],
      ['plans', 'list'],
      ['plans', 'show', 'partner'],
      ['plans', 'show', 'guest'],
      ['plans', 'grants', 'guest'],
      ['plans', 'history', 'guest', '--after', '1', '--limit', '2'],
      ['plans', 'diff', 'new.json'],
      ['ledger', 'verify'],
      ['ledger', 'export'],
      ['ledger', 'export', '--format', 'csv'],
      ['spending', 'report'],
      ['spending', 'holds'],
    ],
  ],
  [
    'the mistakes',
    1,
    [
      ['check', 'Fo', '192.0.2.1'],
      ['check', 'Foos', 'ann'],
      ['spend', 'Foos', '192.0.2.1', '--cost', '3'],
      ['refund', '--operation', 'order-2'],
      ['limits', 'show', 'Fooz'],
      ['plans', 'show', 'nobody'],
      ['plans', 'create', 'partner', '--tier', 'BASIC'],
      ['plans', 'create', 'other', '--tier', 'GOLD'],
      ['plans', 'unlink', 'guest', '192.0.2.7'],
      ['plans', 'grant', 'guest', '-5'],
      ['plans', 'void', 'guest', 'x', '--reason', 'y'],
      ['plans', 'change', 'partner', '--own-limit', '5'],
      ['plans', 'change', 'guest'],
      ['plans', 'retire', 'basic:0xa1'],
      ['spending', 'holds', '--after', 'x'],
      ['plans', 'history', 'guest', '--limit', 'many'],
      ['plans', 'diff', 'bad.json'],
      ['spending', 'report', '--window', 'soon'],
    ],
  ],
] as const)('%s are the same on the store and on a server', async (_, exit, commands) => {
  const { here, url } = await open()
  for (const words of commands) {
    const own = await headgate(words, here)
    const served = await headgate([...words, '--server', url], here)
    expect(anySecond(served), words.join(' ')).toEqual(anySecond(own))
    expect([words, own.exit]).toEqual([words, exit])
    const json = await headgate([...words, '--json'], here)
    const asked = await headgate([...words, '--json', '--server', url], here)
    expect(asked.exit).toBe(exit)
    // The server writes the same fields in another order.
    expect(valuesOf(asked), words.join(' ')).toEqual(valuesOf(json))
  }
})

/** Waits are told with the moment at which they end, and the second may turn between the two. */
const anySecond = ({ out, ...rest }: Outcome) => ({
  ...rest,
  out: out.replaceAll(/, at [\d-]+ [\d:]+ UTC/g, ', at some moment'),
})

const valuesOf = ({ out, err }: Outcome) =>
  `${out}${err}`
    .trim()
    .split(/\n(?=\{)/)
    .map(read)

/** The export is lines in either form. */
const read = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text)
