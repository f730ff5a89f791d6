/** Rows of the order of answers: requests with a field too few, or one too many. */
import { expect, test } from 'vitest'
import { requestFor } from './odis-requests.ts'
import type { Scene } from './odis-rows.ts'
import { type Sample, strangerKey } from './odis-samples.ts'

export function malformed(scene: Scene): void {
  const { sample, conduct, open, refused } = scene
  test('400 without any of its fields, before it is asked who sends it', async () => {
    const bench = open()
    const body = requestFor(sample, { nonce: 0, key: strangerKey })
    for (const bent of [...oneLess(body), 'text', [], null]) {
      refused(await bench.ask('sign', bent), 'MALFORMED_REQUEST')
    }
    for (const part of ['domain', 'options']) {
      for (const bent of oneLess(Object(body[part]))) {
        refused(await bench.ask('sign', { ...body, [part]: bent }), 'MALFORMED_REQUEST')
      }
    }
    expect(bench.evaluations()).toBe(0)
  })
  if (conduct === 'celo') toleratesMore(scene)
  else refusesMore(scene)
}

function refusesMore({ sample, open, refused }: Scene): void {
  test('400 with a field that it does not know, anywhere, before it is asked who sends it', async () => {
    const bench = open()
    const body = requestFor(sample, { nonce: 0, key: strangerKey })
    for (const bent of oneMore(body)) refused(await bench.ask('sign', bent), 'MALFORMED_REQUEST')
    expect(bench.evaluations()).toBe(0)
  })
}

/** They are hashed by no one: what the owner signed is the same without them, and so is the output. */
function toleratesMore({ sample, open, signed, refused }: Scene): void {
  test('a field that it does not know changes nothing, anywhere, as deployed', async () => {
    const bench = open()
    const body = requestFor(sample, { nonce: 0 })
    const replies = [await bench.ask('sign', body)]
    for (const bent of oneMore(body)) {
      const again = open()
      replies.push(await again.ask('sign', bent))
    }
    if (isUnserved(sample)) {
      for (const reply of replies) refused(reply, 'UNAUTHENTICATED')
      return
    }
    expect(new Set(replies.map(signed)).size).toBe(1)
  })
}

/** One field too few, each in turn. */
function oneLess(fields: object): readonly object[] {
  const entries = Object.entries(fields)
  return entries.map((_, at) => Object.fromEntries(entries.filter((_, i) => i !== at)))
}

/** One too many: in the value itself, and in every one within it. */
function oneMore(value: object): readonly object[] {
  const within = Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'object' && inner !== null
      ? oneMore(inner).map((bent) =>
          Array.isArray(value)
            ? value.map((item, at) => (String(at) === name ? bent : item))
            : { ...value, [name]: bent },
        )
      : [],
  )
  return Array.isArray(value) ? within : [{ ...value, another: 1 }, ...within]
}

/** `celo` serves no domain without address. */
const isUnserved = ({ domain }: Sample): boolean => Object(domain['address']).defined === false
