// Exports a store into a file, or imports it from one, and kills itself once so many records are through.
import { exportStore, importStore } from '../../../dist/stores/moving/index.js'
import { openNamed } from './named-store.js'

const [, , verb, file, dieAt, url, place] = process.argv
const store = await openNamed(url, place)
const onProgress = ({ doing, done }) => {
  const isBringing = doing === 'reading the store' || doing === 'filling the store'
  if (isBringing && done >= Number(dieAt)) process.kill(process.pid, 'SIGKILL')
}
const move = verb === 'export' ? exportStore : importStore
console.log(JSON.stringify(await move(store, file, onProgress)))
await store.close()
