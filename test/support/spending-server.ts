import { dirname } from 'node:path'
import { onTestFinished } from 'vitest'
import { parseDocument } from '../../src/documents/document.ts'
import { createHttpServer } from '../../src/server/app/http-server.ts'
import { SILENT } from '../../src/server/app/log.ts'
import { loadSpending } from '../../src/server/spending/config.ts'
import { openSpendingService } from '../../src/server/spending/open.ts'
import { type TestOptions, testHeadgate } from './headgate.ts'
import { scratchFile } from './scratch-file.ts'

/** A total of 1000 a day; 300, 500 and 800 for the tiers; one plan for one address and one network. */
export const SPENDING = `
payer: 0.0.2
total: 1000
tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }
plans:
  - id: partner
    name: a partner
    ethAddresses: ['0xA1']
    ipAddresses: [192.0.2.0/24]
    subscriptionType: EXTENDED
`

export interface SpendingServerOptions extends TestOptions {
  readonly section?: string
  /** As a server, with its queue. */
  readonly serving?: boolean
}

/** A server that spends, in memory, with a clock that stands still until a test moves it. */
export const spendingServer = async (options: SpendingServerOptions = {}) => {
  const { section = SPENDING, serving = false } = options
  const plain = testHeadgate(options)
  const folder = dirname(scratchFile())
  const load = (text: string) =>
    loadSpending({ section: parseDocument(text, 'headgate.yml'), environment: {}, folder })
  let current = await load(section)
  const { store, clock, metrics } = plain
  const service = await openSpendingService({
    store,
    current: () => current,
    serving,
    log: SILENT,
    clock,
    metrics,
  })
  const headgate = { ...plain, tokens: () => plain.tokenList, spending: service }
  const app = createHttpServer(headgate, { now: clock })
  onTestFinished(() => service.close())
  const post = async (url: string, payload: object = {}, headers: object = {}) => {
    const reply = await app.inject({ method: 'POST', url, payload, headers: { ...headers } })
    return { status: reply.statusCode, headers: reply.headers, body: reply.json() }
  }
  const get = async (url: string, headers: object = {}) => {
    const reply = await app.inject({ method: 'GET', url, headers: { ...headers } })
    return { status: reply.statusCode, headers: reply.headers, text: reply.body }
  }
  const reload = async (text: string) => {
    current = await load(text)
    service.reloaded()
  }
  return { app, post, get, clock, service, headgate, reload, folder }
}
