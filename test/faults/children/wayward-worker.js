// A worker thread for the evaluator pool that goes wrong when the tag's first byte tells it to.
import { parentPort } from 'node:worker_threads'
import { thresholdKeygen } from '@celo/poprf'

const TRAP = 1
const EXIT = 2
const HANG = 3

parentPort.on('message', ({ tag }) => {
  // A threshold of 0 is a real trap of the published library: "RuntimeError: unreachable".
  if (tag[0] === TRAP) thresholdKeygen(4, 0, new Uint8Array(32))
  if (tag[0] === EXIT) process.exit(1)
  // Without work for a processor, which the tests beside this one need.
  if (tag[0] === HANG) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  parentPort.postMessage({ kind: 'response', response: tag })
})
