// Loaded into a process before its own code: tells at each mark which files of dist/ executed a
// function since the last one.
import { Session } from 'node:inspector'

const session = new Session()
session.connect()
const post = (method, params) =>
  new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)))
  })

/** What was counted is forgotten. */
const take = async () => {
  const { result } = await post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => url.includes('/dist/') && !url.includes('/node_modules/'))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
    .map(({ url }) => url.slice(url.lastIndexOf('/dist/') + '/dist/'.length))
}

await post('Profiler.enable')
await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', async ({ mark }) => {
  if (mark) process.send({ files: await take() })
})
process.on('disconnect', () => process.exit())
