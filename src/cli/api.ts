/**
 * Where a command's questions go: to the API's handlers in this process, or to a server over HTTP. One
 * typed interface for both.
 */
import { Readable } from 'node:stream'
import { HeadgateError, type Position, quote } from '../core/errors.ts'
import {
  type Api,
  type ApiInput,
  type ApiOperation,
  type ApiOutput,
  ENDPOINTS,
  type OpenApi,
  type RequestOperation,
  refuseUnknownVariables,
  type SpendingOperation,
  type SubjectOperation,
} from '../server/api.ts'
import { type CommandCall, refuseCall } from './command.ts'
import { settingsFlags } from './flags.ts'

/** About limits. `--server` or HEADGATE_SERVER; without either, the store that the configuration names. */
export const withRequests = <T>(
  call: CommandCall,
  use: (api: Api<RequestOperation>) => Promise<T>,
): Promise<T> => withApi(call, async () => (await here()).openRequests(optionsOf(call)), use)

/** The same about plans and spending. */
export const withSpending = <T>(
  call: CommandCall,
  use: (api: Api<SpendingOperation>) => Promise<T>,
): Promise<T> => withApi(call, async () => (await here()).openSpending(optionsOf(call)), use)

/** The same about a subject. */
export const withSubjects = <T>(
  call: CommandCall,
  use: (api: Api<SubjectOperation>) => Promise<T>,
): Promise<T> => withApi(call, async () => (await here()).openSubjectAnswers(optionsOf(call)), use)

/** Loaded only now: a command that asks a server needs no database. */
const here = () => import('../server/local.ts')

/** What opens Headgate in this process. */
export const optionsOf = ({ flags, environment, clock, onlyLooks }: CommandCall) => ({
  flags: settingsFlags(flags),
  environment,
  clock,
  onlyLooks,
})

/** The server to ask; undefined: the command opens the store itself. */
export const serverOf = ({ flags, environment }: CommandCall): string | undefined => {
  refuseUnknownVariables(environment)
  return flags.text('server') ?? environment['HEADGATE_SERVER']
}

async function withApi<Names extends ApiOperation, T>(
  call: CommandCall,
  open: () => Promise<OpenApi<Names>>,
  use: (api: Api<Names>) => Promise<T>,
): Promise<T> {
  const server = serverOf(call)
  if (server !== undefined) {
    const token = call.flags.text('token') ?? call.environment['HEADGATE_TOKEN']
    return use(remoteApi(server, token))
  }
  const api = await open()
  try {
    return await use(api)
  } finally {
    await api.close()
  }
}

/** A decision takes milliseconds. A server that needs this long is as good as gone. */
const PATIENCE_MS = 10_000

/** The whole ledger is read: some microseconds for each of its entries. */
const LONG_PATIENCE_MS = 600_000

const remoteApi = (server: string, token: string | undefined): Api<ApiOperation> => {
  const base = readBase(server)
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  return {
    ask: async (name, input) => {
      const { slow, stream } = ENDPOINTS[name]
      const { path, ...request } = requestFor(name, input)
      const patience = slow ? LONG_PATIENCE_MS : PATIENCE_MS
      const response = await send(base, path, {
        ...request,
        headers: { ...headers, ...request.headers },
        ...(!stream && { signal: AbortSignal.timeout(patience) }),
      })
      const { status } = response
      if (stream && status === 200) return checked(name, status, streamOf(base, response))
      return readAnswer(name, status, await textOf(base, response))
    },
  }
}

/** For what is no operation of the API: a document at a path of its own. */
export const fetchDocument = async (server: string, path: string): Promise<object> => {
  const base = readBase(server)
  const response = await send(base, path, { signal: AbortSignal.timeout(PATIENCE_MS) })
  const body = parse(await textOf(base, response))
  return response.status === 200 ? body : refuseAnswer(response.status, body)
}

/** Fetches like the API does: in time, and never from elsewhere, since a redirect would take the token along. */
export const patientFetch: typeof fetch = (url, init) =>
  fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), ...init, redirect: 'error' })

/** A path in front is kept, for servers behind a proxy. */
export const readBase = (server: string): string => {
  if (/^https?:\/\//.test(server) && URL.canParse(server)) {
    const { origin, pathname } = new URL(server)
    return `${origin}${pathname.replace(/\/+$/, '')}`
  }
  const rule = 'must be an address such as http://127.0.0.1:8080'
  const thing = '--server or HEADGATE_SERVER'
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule, finding: quote(server) })
}

interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What the path names goes into the path; the rest into the query, or into the body of a POST. */
export const requestFor = <Name extends ApiOperation>(
  name: Name,
  input: ApiInput<Name>,
): ApiRequest => {
  const { method, path: pattern } = ENDPOINTS[name]
  const rest = new Map(Object.entries(input))
  const path = pattern.replace(/:(\w+)/g, (_, field: string) => {
    const value = encodeURIComponent(String(rest.get(field)))
    rest.delete(field)
    return value
  })
  if (method === 'POST') {
    const headers = { 'content-type': 'application/json' }
    return { method, path, headers, body: JSON.stringify(Object.fromEntries(rest)) }
  }
  const query = new URLSearchParams()
  for (const [field, value] of rest) query.set(field, String(value))
  return { method, path: rest.size === 0 ? path : `${path}?${query}` }
}

async function send(base: string, path: string, request: RequestInit): Promise<Response> {
  try {
    return await patientFetch(`${base}${path}`, request)
  } catch (error) {
    return refuseUnreachable(base, error)
  }
}

async function textOf(base: string, response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    return refuseUnreachable(base, error)
  }
}

function streamOf(base: string, { body }: Response): Readable {
  async function* data() {
    try {
      yield* body ?? []
    } catch (error) {
      refuseUnreachable(base, error)
    }
  }
  return Readable.from(data())
}

function refuseUnreachable(base: string, error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return refuseCall(
    {
      code: 'SERVER_UNREACHABLE',
      thing: base,
      rule: `must answer within ${PATIENCE_MS / 1_000} s`,
      finding: cause instanceof Error ? cause.message : String(cause),
    },
    error,
  )
}

/** The answer of an operation, or the mistake that the server found instead. */
export const readAnswer = <Name extends ApiOperation>(
  name: Name,
  status: number,
  text: string,
): ApiOutput<Name> => checked(name, status, parse(text))

const checked = <Name extends ApiOperation>(
  name: Name,
  status: number,
  body: object,
): ApiOutput<Name> =>
  (status === 200 || status === 202) && holds<Name>(body, ENDPOINTS[name].answers)
    ? body
    : refuseAnswer(status, body)

/** The schemas say the rest; fields that are absent are the sign of another server. */
const holds = <Name extends ApiOperation>(
  body: object,
  fields: readonly PropertyKey[],
): body is ApiOutput<Name> & object => fields.every((field) => Object.hasOwn(body, field))

function refuseAnswer(status: number, body: object): never {
  const { code, thing, rule, finding, at }: Partial<Record<string, unknown>> = { ...body }
  if (isText(code) && isText(thing) && isText(rule)) {
    const found = isText(finding) ? finding : undefined
    throw new HeadgateError({ code, thing, rule, finding: found, at: placeIn(at) })
  }
  return refuseCall({
    code: 'SERVER_ANSWER_INVALID',
    thing: 'the server',
    rule: 'must be a Headgate server of this version',
    finding: `status ${status}`,
  })
}

function placeIn(at: unknown): Position | undefined {
  if (typeof at !== 'object' || at === null) return undefined
  const { file, line, column }: Partial<Record<keyof Position, unknown>> = at
  const isPlace = isText(file) && typeof line === 'number' && typeof column === 'number'
  return isPlace ? { file, line, column } : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** An empty object for what is no object: it has none of the fields that are looked for. */
function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

interface ListPage<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; absent on the last. */
  readonly next?: string | undefined
}

/** Everything that a list holds, page by page. */
export const everyPage = async <Item>(
  ask: (from: { readonly after?: string }) => Promise<ListPage<Item>>,
): Promise<readonly Item[]> => {
  const all: Item[] = []
  let page = await ask({})
  all.push(...page.items)
  while (page.next !== undefined) {
    page = await ask({ after: page.next })
    all.push(...page.items)
  }
  return all
}
