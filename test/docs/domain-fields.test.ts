/** The fields and types of domains on their page are those that are read and hashed, and its examples run. */
import { readFileSync } from 'node:fs'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import * as linear from '../../src/secrets/domains/cip40-examples.ts'
import * as notBefore from '../../src/secrets/domains/cip40-examples.ts'
import * as peppered from '../../src/secrets/domains/cip40-examples.ts'
import * as backup from '../../src/secrets/domains/cloud-backup.ts'
import { requestType } from '../../src/secrets/domains/domain-kind.ts'
import { domainHash, signingHash } from '../../src/secrets/domains/index.ts'
import * as phone from '../../src/secrets/domains/phone-number.ts'
import * as sequential from '../../src/secrets/domains/sequential-delay.ts'
import * as contract from '../../src/secrets/domains/smart-contract.ts'
import type { Eip712Type } from '../../src/secrets/eip712/typed-data.ts'
import { address, bool, optional, string, uint256 } from '../../src/secrets/eip712/typed-data.ts'
import { VERSION } from '../../src/server/app/version.ts'
import { withoutProof } from '../support/odis-requests.ts'
import { type SampleName, samples } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/reference/domains.md`, 'utf8')
const sectionOf = (title: string): string => page.split(`### ${title}\n`)[1]?.split('\n##')[0] ?? ''

type Kind = readonly [title: string, sample: SampleName, domain: Struct, options: Struct]
type Struct = Pick<Eip712Type<unknown>, 'name' | 'structs'>

const KINDS: readonly Kind[] = [
  [
    'ODIS Sequential Delay Domain 1',
    'sequential delay',
    sequential.SequentialDelayDomain,
    sequential.SequentialDelayDomainOptions,
  ],
  [
    'ODIS Linear Backoff Domain 1',
    'linear backoff',
    linear.LinearBackoffDomain,
    linear.LinearBackoffDomainOptions,
  ],
  [
    'ODIS Cloud Backup Domain 1',
    'cloud backup',
    backup.CloudBackupDomain,
    backup.CloudBackupDomainOptions,
  ],
  [
    'ODIS Cloud Backup Domain 2',
    'cloud backup 2',
    backup.CloudBackupDomain2,
    backup.CloudBackupDomainOptions2,
  ],
  [
    'ODIS Not Before Domain 1',
    'not before',
    notBefore.NotBeforeDomain,
    notBefore.NotBeforeDomainOptions,
  ],
  ['ODIS Peppered Domain 1', 'peppered', peppered.PepperedDomain, peppered.PepperedDomainOptions],
  [
    'ODIS Phone Number Domain 1',
    'phone number',
    phone.PhoneNumberDomain,
    phone.PhoneNumberDomainOptions,
  ],
  [
    'ODIS Smart Contract Domain 1',
    'smart contract',
    contract.SmartContractDomain,
    contract.SmartContractDomainOptions,
  ],
]

/** `domain.name` and `domain.version` are told of all domains at once. */
const TOLD_ONCE = ['domain.name: string', 'domain.version: string']

/** Every field below a path, with its type; an optional one counts as a whole. */
function fieldsOf(path: string, type: string, structs: Struct['structs']): readonly string[] {
  const [inner = '', list = ''] = type.endsWith('[]') ? [type.slice(0, -2), '[]'] : [type]
  const members = inner.startsWith('Optional<') ? [] : membersOf(structs.get(inner))
  const below = members.flatMap(([name, its]) => fieldsOf(`${path}${list}.${name}`, its, structs))
  return [`${path}: ${type}`, ...below]
}

/** Of `Name(type member,type member)`; of what is no struct, none. */
function membersOf(definition = ''): readonly (readonly [name: string, type: string])[] {
  const [, inside = ''] = /\((.*)\)$/.exec(definition) ?? []
  if (inside === '') return []
  return inside.split(',').map((member) => {
    const [type = '', name = ''] = member.split(' ')
    return [name, type]
  })
}

test('every domain has a section with its fields, and the page has no other', () => {
  const headings = [...page.matchAll(/^### (ODIS .+)$/gm)].map(([, title]) => title)
  expect(headings).toEqual(KINDS.map(([title]) => title))
  const known = Object.values(samples('docs')).map(
    ({ domain: { name, version } }) => `${name} ${version}`,
  )
  expect(new Set(headings)).toEqual(new Set(known))
})

describe.each(KINDS)('%s', (title, sample, domain, options) => {
  test('lists every field of domain and options with its type, and no other', () => {
    const rows = [...sectionOf(title).matchAll(/^\| `((?:domain|options)[^`]*)` \| `([^`]+)` \|/gm)]
    const read = [
      ...fieldsOf('domain', domain.name, domain.structs),
      ...fieldsOf('options', options.name, options.structs),
    ]
    const told = rows.map(([, field, type]) => `${field}: ${type}`)
    expect([...told, ...TOLD_ONCE].sort()).toEqual([...read].sort())
  })

  test('has the fields that its requests are accepted with', () => {
    const body = withoutProof(samples('docs')[sample], { nonce: 0 })
    for (const [part, { name, structs }] of [
      ['domain', domain],
      ['options', options],
    ] as const) {
      const members = membersOf(structs.get(name)).map(([member]) => member)
      expect(Object.keys(Object(body[part])).sort()).toEqual([...members].sort())
    }
  })
})

test('every type that fields are made of has a row, with what an optional one must hold', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| [^|]+ \| `(\{"defined[^`]+)` \|$/gm)]
  expect(rows.map(([, type, zero = '']) => [type, JSON.parse(zero)])).toEqual(
    [string, uint256, bool, address].map(({ name }) => [name, zeroOf(name)]),
  )
})

const ZEROS = [string, uint256, bool, address].map((atom: Eip712Type<unknown>) => optional(atom))
const zeroOf = (name: string) => ZEROS.find((each) => each.name === `Optional<${name}>`)?.zero

describe('an example', () => {
  const blocks = (title: string, language = 'json') =>
    [...sectionOf(title).matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
      ([, text = '']) => text.trim(),
    )

  test.each(['ODIS Sequential Delay Domain 1', 'ODIS Linear Backoff Domain 1'])(
    'of the %s is answered as the page says',
    async (title) => {
      const [request, answer] = blocks(title).map((text) => JSON.parse(text))
      const bench = signerBench()
      const { status, headers, body } = await bench.ask('sign', request)
      expect([status, headers['odis-key-version']]).toEqual([200, '1'])
      expect(body).toEqual({ ...answer, version: VERSION, signature: expect.any(String) })
      const hash = Buffer.from(domainHash(request.domain)).toString('hex')
      expect(sectionOf(title)).toContain(`domain hash is \`0x${hash}\``)
      expect(await bench.ask('sign', request)).toMatchObject({ status: 200, body })
      expect(bench.events.map(({ outcome }) => outcome)).toEqual(['signed', 'retried'])
    },
  )

  test('is signed as the page says, over the type string that it shows', () => {
    const section = sectionOf('ODIS Sequential Delay Domain 1')
    const request = JSON.parse(blocks('ODIS Sequential Delay Domain 1')[0] ?? '')
    const [, key = ''] = /the key `0x([0-9a-f]{64})`/.exec(section) ?? []
    const hash = signingHash('sign', request)
    expect(section).toContain(`that was signed \`0x${Buffer.from(hash).toString('hex')}\``)
    const [recovery = 0, ...rest] = secp256k1.sign(hash, Buffer.from(key, 'hex'), {
      prehash: false,
      format: 'recovered',
    })
    const signature = `0x${Buffer.from([...rest, recovery + 27]).toString('hex')}`
    expect(request.options.signature).toEqual({ defined: true, value: signature })
    const types = {
      domain: sequential.SequentialDelayDomain,
      options: sequential.SequentialDelayDomainOptions,
      tagged: true,
    }
    const [shown] = blocks('ODIS Sequential Delay Domain 1', 'text')
    expect(shown).toBe(requestType('sign', types).typeString)
  })
})
