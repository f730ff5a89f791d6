/** The answers that a client of a signer may get, in each conduct. CIP-40, "HTTP Transport". */
import { expect } from 'vitest'
import type { Conduct } from '../../src/secrets/index.ts'
import { VERSION } from '../../src/server/app/version.ts'
import type { Reply } from './odis-http.ts'

/** Status by CIP-40, status as deployed, and the code that deployed clients know. */
const REFUSALS = {
  OUTER_LIMIT: [429, 429, 'OUTER_LIMIT'],
  DOMAIN_UNKNOWN: [404, 400, 'CELO_ODIS_WARN_01'],
  ENDPOINT_UNSUPPORTED: [404, 400, 'CELO_ODIS_WARN_01'],
  DOMAIN_DEPRECATED: [410, 400, 'CELO_ODIS_WARN_01'],
  MALFORMED_REQUEST: [400, 400, 'CELO_ODIS_WARN_01'],
  KEY_VERSION_INVALID: [400, 400, 'CELO_ODIS_WARN_12'],
  UNAUTHENTICATED: [401, 401, 'CELO_ODIS_WARN_02'],
  DOMAIN_DISABLED: [403, 429, 'CELO_ODIS_WARN_03'],
  NONCE_INVALID: [401, 401, 'CELO_ODIS_WARN_16'],
  OVER_QUOTA: [429, 429, 'CELO_ODIS_WARN_03'],
} as const

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

type Code = keyof typeof REFUSALS

export interface Answers {
  status(code: Code): number
  /** With the status of the domain where it may be known, and `Retry-After` only where waiting helps. */
  refused(reply: Reply, code: Code, more?: RefusalDetails): void
  /** The evaluation. */
  signed(reply: Reply): string
  reported(reply: Reply, status: object): void
}

interface RefusalDetails {
  /** In seconds. */
  readonly wait?: number
  readonly status?: object
}

export const answersAs = (conduct: Conduct): Answers => ({
  status: (code) => REFUSALS[code][conduct === 'celo' ? 1 : 0],
  refused: (reply, code, { wait, status } = {}) => {
    const [cip40, celo, deployed] = REFUSALS[code]
    const error = `^${conduct === 'celo' ? deployed : code} `
    expect(reply, code).toEqual({
      status: conduct === 'celo' ? celo : cip40,
      headers: expect.objectContaining(HEADERS),
      body: {
        success: false,
        version: VERSION,
        error: expect.stringMatching(error),
        ...(status && { status: expect.objectContaining(status) }),
      },
    })
    expect(reply.headers['retry-after']).toBe(wait === undefined ? undefined : `${wait}`)
    expect(reply.headers).not.toHaveProperty('odis-key-version')
  },
  signed: (reply) => {
    const signature = expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/)
    const status = expect.objectContaining({ disabled: false })
    expect(reply).toEqual({
      status: 200,
      headers: expect.objectContaining({ ...HEADERS, 'odis-key-version': '1' }),
      body: { success: true, version: VERSION, signature, status },
    })
    return reply.body.signature ?? ''
  },
  reported: (reply, status) =>
    expect(reply).toEqual({
      status: 200,
      headers: expect.objectContaining(HEADERS),
      body: { success: true, version: VERSION, status: expect.objectContaining(status) },
    }),
})
