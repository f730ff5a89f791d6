// What a certificate authority asks before it takes an order: several limits at once, all or nothing.
import { createLimiter, memory } from 'headgate'
import { ACME, newOrder } from 'headgate/acme'
import { parseCatalog } from 'headgate/yaml'

const catalog = parseCatalog({
  vocabulary: ACME,
  defaults: `
NewOrdersPerAccount: { burst: 300, count: 300, period: 3h }
CertificatesPerDomain: { burst: 50, count: 50, period: 168h }
CertificatesPerFQDNSet: { burst: 5, count: 5, period: 168h }
FailedAuthorizationsPerDomainPerAccount: { burst: 5, count: 5, period: 1h }
`,
  overrides: `
- CertificatesPerDomain:
    burst: 500
    count: 500
    period: 168h
    ids:
      - id: example.org
        comment: a hosting provider
`,
})
const limiter = createLimiter({ store: memory(), catalog: () => catalog })

const order = {
  regId: 12345678,
  identifiers: ['www.example.com', 'shop.example.org'].map((value) => ({
    type: 'dns' as const,
    value,
  })),
}
const answer = await limiter.spend({ charges: newOrder(catalog, order), operationId: 'order-1' })
console.log(answer.allowed ? 'order accepted' : `order refused by ${answer.violated.join(', ')}`)
for (const { bucket, mode, remaining, source } of answer.charges) {
  console.log(`  ${mode.padEnd(5)} ${bucket.padEnd(26).slice(0, 26)} ${remaining} left (${source})`)
}

// The order could not be stored after all: give back what was charged, less what time forgave.
const back = await limiter.refund({ operationId: 'order-1' })
console.log(`given back: ${back.charges.map(({ bucket }) => bucket).join(', ')}`)
