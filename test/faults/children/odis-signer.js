// Signs prepared requests on a shared SQLite file: all at once, or one after the other, telling each answer.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSigner } from '../../../dist/secrets/index.js'
import { sqlite } from '../../../dist/stores/sqlite/index.js'

const [, , path, requests, manner] = process.argv
const store = sqlite({ path })
const evaluator = {
  // Slow enough that a kill or another process comes in between.
  evaluate: async (_key, tag, message) => {
    await new Promise((resolve) => setTimeout(resolve, 3))
    return new Uint8Array(createHash('sha256').update(tag).update(message).digest())
  },
}
const key = { kind: 'single', secret: new Uint8Array(32) }
const keys = { current: 1, find: (version) => (version === 1 ? key : undefined) }
const signer = createSigner({ store, evaluator, keys, version: 'test' })
const bodies = JSON.parse(readFileSync(requests, 'utf8'))
const sign = (body) =>
  signer.answer('sign', { body: new TextEncoder().encode(JSON.stringify(body)) })

console.log('ready')
if (manner === 'together') {
  const answers = await Promise.all(bodies.map(sign))
  console.log(answers.filter(({ status }) => status === 200).length)
} else {
  for (const [i, body] of bodies.entries()) console.log(`${i} ${(await sign(body)).status}`)
}
await store.close()
