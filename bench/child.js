/** The other end of in-child.js: builds one contender and measures it when told to. */
const [url, contender, options] = process.argv.slice(2)

let subject

const tasks = {
  prepare: async () => {
    const { [contender]: open } = await import(url)
    subject = await open(JSON.parse(options))
    return {}
  },
  measure: async () => {
    const start = performance.now()
    const before = process.cpuUsage()
    const rate = await subject.measure()
    const { user, system } = process.cpuUsage(before)
    const processorRate = (rate * (performance.now() - start) * 1_000) / (user + system)
    return { rate, processorRate, note: subject.note?.() ?? '' }
  },
  close: async () => {
    await subject?.close()
    return {}
  },
}

process.on('message', async (task) => process.send(await tasks[task]()))

// A peer may leave timers behind that would keep the process, or the run may have failed.
process.on('disconnect', () => process.exit())
