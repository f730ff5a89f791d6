/** What it costs to verify an invocation, beside ucanto's server as it is published, and to refuse a stranger's. */
import { readFileSync } from 'node:fs'
import { inChild } from '../in-child.js'

const url = new URL('../contenders/ucan.js', import.meta.url)
const PEER = '@ucanto/server'
const file = new URL(`../../node_modules/${PEER}/package.json`, import.meta.url)

const HONEST = 'An invocation with one delegation'

const hostile = (name, kind) =>
  inChild(name, {
    url: new URL('../contenders/ucan-hostile.js', import.meta.url),
    contender: 'message',
    options: { kind },
  })

export const peers = () => `${PEER} ${JSON.parse(readFileSync(file, 'utf8')).version}`

export const tables = [
  {
    title: 'UCAN, one invocation with one delegation, from CAR to signed receipt',
    conditions: `One process each, one caller, 500 new invocations of \`rate-limit/list\` a round, all with the same
delegation; counted by processor time (user and system), not by the clock. The peer answers an empty
list from its handler; Headgate reads its memory store, hashes every block, counts its work and
looks for revocations, which the peer leaves to its user.`,
    command: 'npm run bench -- ucan',
    base: PEER,
    variants: [
      inChild(PEER, { url, contender: 'ucanto', options: {} }),
      inChild('Headgate', { url, contender: 'headgate', options: {} }),
    ],
  },
  {
    title: 'UCAN, what a message of a stranger costs',
    conditions: `One process each, one caller, the same message 20 times a round: the dearest of each kind that we
know. Messages a second of processor time (user and system); the reciprocal is what one costs. The remarks
say what was counted; no message may cost more than 64 signatures, 524,288 bytes hashed, 16,384 values
and 16,384 values compared.`,
    command: 'npm run bench -- ucan',
    base: HONEST,
    variants: [
      hostile(HONEST, 'honest'),
      hostile('200 forged grants in 32 invocations', 'forged'),
      hostile('16,000 empty maps', 'maps'),
      hostile('32 capabilities in 13 proofs in 32 invocations', 'wide'),
      hostile('An issuer of 7 kB', 'issuer'),
    ],
  },
]
