/** Answers as CIP-40's JSON: `{success, version, error}` and what belongs to each, for every status. */
import { toSeconds } from '../core/index.ts'
import type { Conduct } from './claim.ts'
import type { ServiceAnswer } from './domain-service.ts'
import { KEY_VERSION_HEADER } from './key-version.ts'
import { deployedCode, type Refusal, type RefusedBecause, refused, statusOf } from './refusal.ts'

export interface SignerResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Manners {
  readonly conduct: Conduct
  readonly version: string
}

export const toResponse = (answer: ServiceAnswer, manners: Manners): SignerResponse => {
  const { version } = manners
  switch (answer.kind) {
    case 'signed': {
      const signature = Buffer.from(answer.evaluation).toString('base64')
      const headers = { [KEY_VERSION_HEADER]: String(answer.keyVersion) }
      return json(200, { success: true, version, signature, status: answer.status }, headers)
    }
    case 'status':
      return json(200, { success: true, version, status: answer.status })
    case 'refused':
      return refusal(answer, manners)
    default:
      return answer satisfies never
  }
}

/** For what a server refuses before the signer sees it. */
export const refusedResponse = (
  reason: RefusedBecause,
  message: string,
  manners: Manners,
): SignerResponse => refusal(refused(reason, message), manners)

/** For whoever asks whether anyone is here. */
export const aliveResponse = (version: string): SignerResponse => json(200, { version })

function refusal(answer: Refusal, { conduct, version }: Manners): SignerResponse {
  const { reason, message, retryIn, status } = answer
  const code = conduct === 'celo' ? (deployedCode(reason) ?? reason) : reason
  const body = { success: false, version, error: `${code} ${message}` }
  const headers =
    retryIn === undefined ? {} : { 'retry-after': String(Math.max(1, toSeconds(retryIn))) }
  return json(statusOf(reason, conduct), status === undefined ? body : { ...body, status }, headers)
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}) {
  const type = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) }
}
