// Adds items to a queue whose file may not grow beyond a limit, and prints which were accepted.
import { openDiskQueue } from '../../../dist/lib/disk-queue/disk-queue.js'

const [, , path] = process.argv
const queue = await openDiskQueue({
  path,
  deliver: () => Promise.reject(new Error('away')),
  isFinal: () => false,
  clock: () => 1,
  timers: { after: () => () => {} },
})
const add = (item) =>
  queue.add(item).then(
    () => console.log(`accepted ${item}`),
    (error) => console.log(`${error.code} ${item.slice(0, 20)}`),
  )
await Promise.all(['a', 'b', 'c'].map(add))
await Promise.all(['d', 'e'.repeat(6_000), 'f'.repeat(6_000)].map(add))
await add('g')
await queue.close()
