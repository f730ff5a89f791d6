/**
 * Spends of plain token buckets while Redis, or the way to it, suffers: none is charged that was not asked
 * for, what was told stays, the policy of each limit acts meanwhile, and all goes on without a restart.
 */
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Service } from '../../scripts/services.js'
import { millis, seconds } from '../../src/core/time.ts'
import { times } from '../support/counts.ts'
import { untilItAnswers } from '../support/hot-count.ts'
import { type Proxy as Network, openProxy } from '../support/proxy.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'
import { expectNothingExtra, type SpendLoad, startSpends } from '../support/spend-load.ts'

interface Suffering {
  readonly load: SpendLoad
  readonly service: Service
  readonly client: Redis
  readonly proxy: Network
}

/** What is done to it; `hidden` if nobody must notice. */
const FAULTS: Readonly<
  Record<string, { readonly hidden?: true; act(parts: Suffering): Promise<unknown> }>
> = {
  'that forgets its scripts': { hidden: true, act: ({ client }) => client.script('FLUSH') },
  'whose answers take 200 ms': {
    hidden: true,
    act: async ({ proxy, load }) => {
      proxy.delayMs = 200
      for (let turn = 0; turn < 3; turn++) await load.goesOn()
      proxy.delayMs = 0
    },
  },
  'that pauses': {
    act: async ({ client, load }) => {
      await client.client('PAUSE', 60_000, 'WRITE')
      await load.isRefused()
      await client.client('UNPAUSE')
    },
  },
  'that is full': {
    act: async ({ client, load }) => {
      await client.config('SET', 'maxmemory', '1')
      await load.isRefused()
      await client.config('SET', 'maxmemory', '0')
    },
  },
  'that is made a replica': {
    act: async ({ client, load }) => {
      await client.replicaof('127.0.0.1', '1')
      await load.isRefused()
      await client.replicaof('NO', 'ONE')
    },
  },
  'that loads its data': {
    act: async ({ client, load }) => {
      const values = Array.from({ length: 500 }, (_, i) => [`k${i}`, 'x'.repeat(100)] as const)
      await client.mset(Object.fromEntries(values))
      await client.config('SET', 'key-load-delay', '2000')
      await Promise.all([client.call('DEBUG', 'RELOAD'), load.isRefused()])
    },
  },
  'that is killed and restarted': {
    act: async ({ service, load }) => {
      await service.kill()
      await load.isRefused()
      await service.restart()
    },
  },
  'behind a network that is cut and heals': {
    act: async ({ proxy, load }) => {
      proxy.mode = 'mute'
      await load.isRefused()
      proxy.mode = 'pass'
    },
  },
  'behind a network that loses replies': {
    act: async ({ proxy, load }) => {
      proxy.mode = 'lose'
      await load.isRefused()
      proxy.mode = 'pass'
    },
  },
}

/** It keeps its writes, whatever is done to it. */
const SETTINGS = [
  ...['--appendonly', 'yes', '--appendfsync', 'always'],
  ...['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024'],
]

/** Only for what hangs. */
const PATIENCE = seconds(120)

describe.skipIf((await sharedUrl('redis')) === undefined)('spends on a Redis', () => {
  for (const [name, { hidden, act }] of Object.entries(FAULTS)) {
    // Without the script they are commits like any other, which the other tests of faults cover.
    for (const script of times(1, 2) === 1 ? [true] : [true, false]) {
      test(`${name}${script ? '' : ', without the script'}`, async () => {
        const service = await ownService('redis', SETTINGS)
        const [port = 0] = service.ports
        const proxy = await openProxy({ port, isCommit: () => true })
        const timeout = millis(hidden ? 60_000 : 300)
        const store = placeAt('redis', service.url).open(
          { timeout, patience: PATIENCE, script },
          proxy.port,
        )
        const client = new Redis(service.url)
        client.on('error', () => {})
        onTestFinished(async () => {
          client.disconnect()
          await store.close()
          await proxy.close()
        })
        await untilItAnswers(() => store.opened())
        const load = startSpends(store)
        for (let round = 0; round < times(1, 5); round++) {
          await load.goesOn()
          await act({ load, service, client, proxy })
          await load.goesOn()
        }
        const found = await load.end()
        expectNothingExtra(found)
        if (hidden) expect(found).toMatchObject({ failed: 0, open: 0, charged: found.admitted })
        else expect(found.failed).toBeGreaterThan(0)
      })
    }
  }
})
