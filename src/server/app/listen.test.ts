import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { DEFAULT_SETTINGS } from '../config/settings.ts'
import { listen } from './access.ts'

const freshServer = () => {
  const { app } = testServer()
  onTestFinished(() => app.close())
  return app
}

test('answers where it listens, with the port that the system chose', async () => {
  const url = await listen(freshServer(), { ...DEFAULT_SETTINGS, port: 0 })
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/)
  expect((await fetch(`${url}/livez`)).status).toBe(200)
})

test('a port in use is named, with a way out', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => other.close(() => resolve())))
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await expect(listen(freshServer(), { ...DEFAULT_SETTINGS, port })).rejects.toMatchObject({
    code: 'LISTEN_PORT_IN_USE',
    thing: `port ${port} of 127.0.0.1`,
    rule: expect.stringContaining('choose another --port'),
  })
})

test('an address of another machine cannot be listened on', async () => {
  const settings = { ...DEFAULT_SETTINGS, host: '192.0.2.1', port: 0 }
  await expect(listen(freshServer(), settings)).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    thing: 'host 192.0.2.1',
  })
})
