/** HTTP load: some connections that ask in turn, each again as soon as it is answered. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packageVersion, programVersion, provideProgram } from './provide.js'

/** Few enough that none waits long, enough that the server is never idle. */
export const CONNECTIONS = 64

const SECONDS = 2

/** A busy machine may hold up a request; only one that is never answered is an error. */
const TIMEOUT_SECONDS = 10

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

/** wrk where Debian has it: it takes far less of the machine than a client in JavaScript. */
export const openLoad = (say) => {
  const hasWrk = provideProgram('wrk', ['wrk'], say)
  const ask = hasWrk ? askByWrk : askByAutocannon
  return {
    name: hasWrk
      ? `wrk ${programVersion('wrk', '-v')}`
      : `autocannon ${packageVersion('autocannon')}`,
    /**
     * Requests answered in a second. All must be answered with a status below 400: a refusal or an
     * error is quicker work, and so not what is measured.
     */
    rate: async (url, requests, folder) => {
      const { answered, seconds, errors } = await ask(url, requests, folder, CONNECTIONS)
      expectNone(url, errors)
      return answered / seconds
    },
    /** Those answered below 400, and how many a second, whatever became of the others. */
    goodput: async (url, requests, folder, connections) => {
      const { answered, seconds, errors } = await ask(url, requests, folder, connections)
      const good = answered - errors.status
      return { good, perSecond: good / seconds }
    },
  }
}

const askByWrk = async (url, requests, folder, connections) => {
  const file = join(folder, 'requests.tsv')
  const lines = requests.map(({ method, path, body = '' }) => `${method}\t${path}\t${body}\n`)
  writeFileSync(file, lines.join(''))
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${SECONDS}s`,
    `--timeout=${TIMEOUT_SECONDS}s`,
    '-s',
    SCRIPT,
    url,
    file,
  ]
  const { stdout } = await promisify(execFile)('wrk', args)
  const { requests: answered, micros, ...errors } = JSON.parse(stdout.split('\n').at(-2))
  return { answered, seconds: micros / 1_000_000, errors }
}

const askByAutocannon = async (url, requests, _folder, connections) => {
  const { default: autocannon } = await import('autocannon')
  const headers = { 'content-type': 'application/json' }
  const {
    '2xx': answered,
    non2xx,
    errors,
    timeouts,
    duration,
  } = await autocannon({
    url,
    connections,
    duration: SECONDS,
    timeout: TIMEOUT_SECONDS,
    requests: requests.map((request) =>
      request.body === undefined ? request : { ...request, headers },
    ),
  })
  const failures = { status: non2xx, errors, timeouts }
  return { answered: answered + non2xx, seconds: duration, errors: failures }
}

const expectNone = (url, errors) => {
  if (Object.values(errors).every((count) => count === 0)) return
  throw new Error(`${url}: all must be answered, and below 400; errors: ${JSON.stringify(errors)}`)
}
