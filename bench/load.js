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
export const openLoad = (say) =>
  provideProgram('wrk', ['wrk'], say)
    ? { name: `wrk ${programVersion('wrk', '-v')}`, rate: rateByWrk }
    : { name: `autocannon ${packageVersion('autocannon')}`, rate: rateByAutocannon }

/**
 * Requests answered in a second. All must be answered with a status below 400: a refusal or an
 * error is quicker work, and so not what is measured.
 */
const rateByWrk = async (url, requests, folder) => {
  const file = join(folder, 'requests.tsv')
  const lines = requests.map(({ method, path, body = '' }) => `${method}\t${path}\t${body}\n`)
  writeFileSync(file, lines.join(''))
  const args = [
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${SECONDS}s`,
    `--timeout=${TIMEOUT_SECONDS}s`,
    '-s',
    SCRIPT,
    url,
    file,
  ]
  const { stdout } = await promisify(execFile)('wrk', args)
  const { requests: answered, micros, ...errors } = JSON.parse(stdout.split('\n').at(-2))
  expectNone(url, errors)
  return (answered / micros) * 1_000_000
}

const rateByAutocannon = async (url, requests) => {
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
    connections: CONNECTIONS,
    duration: SECONDS,
    timeout: TIMEOUT_SECONDS,
    requests: requests.map((request) =>
      request.body === undefined ? request : { ...request, headers },
    ),
  })
  expectNone(url, { status: non2xx, errors, timeouts })
  return answered / duration
}

const expectNone = (url, errors) => {
  if (Object.values(errors).every((count) => count === 0)) return
  throw new Error(`${url}: all must be answered, and below 400; errors: ${JSON.stringify(errors)}`)
}
