import { fetchGate } from 'headgate/fetch'

const gate = fetchGate({ limits: { Api: { burst: 3, period: '1m' } } })

export default { fetch: gate(() => new Response('hello')) }
