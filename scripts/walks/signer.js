// A signer behind its door, without the server around it: takes bodies from its parent process and
// sends the status of each answer back.
import { uptime } from 'node:os'
import { createSigner, evaluateHere, generateKey, watchClock } from '../../dist/secrets/index.js'
import { memory } from '../../dist/stores/memory/index.js'

const key = generateKey()
const keys = { current: 1, find: (version) => (version === 1 ? key : undefined) }
const evaluator = await evaluateHere()
const store = memory()
const machine = () => ({ boot: 'walk', uptime: Math.round(uptime() * 1_000_000) })
await watchClock({ store, machine })
const signer = createSigner({ store, machine, evaluator, keys, version: 'walk' })

process.on('message', async ({ endpoint, body }) => {
  if (endpoint === undefined) return
  const { status } = await signer.answer(endpoint, { body: new TextEncoder().encode(body) })
  process.send({ answer: { success: status === 200 } })
})
console.log(JSON.stringify({ url: undefined }))
