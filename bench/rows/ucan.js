/** What it costs to verify an invocation: Headgate beside ucanto's server as it is published. */
import { readFileSync } from 'node:fs'
import { inChild } from '../in-child.js'

const url = new URL('../contenders/ucan.js', import.meta.url)
const PEER = '@ucanto/server'
const file = new URL(`../../node_modules/${PEER}/package.json`, import.meta.url)

export const peers = () => `${PEER} ${JSON.parse(readFileSync(file, 'utf8')).version}`

export const tables = [
  {
    title: 'UCAN, one invocation with one delegation, from CAR to signed receipt',
    conditions: `One process each, one caller, 500 new invocations of \`rate-limit/list\` a round, all with the same
delegation; counted by processor time (user and system), not by the clock. The peer answers an empty
list from its handler; Headgate reads its memory store, hashes every block, weighs the proofs and
looks for revocations, which the peer leaves to its user.`,
    command: 'npm run bench -- ucan',
    base: PEER,
    variants: [
      inChild(PEER, { url, contender: 'ucanto', options: {} }),
      inChild('Headgate', { url, contender: 'headgate', options: {} }),
    ],
  },
]
