import express from 'express'
import { expressGate } from 'headgate/express'

const app = express()
app.use(expressGate({ limits: { Api: { burst: 1_000_000, period: '1h' } } }))
app.get('/', (_req, res) => res.send('hello'))
app.listen(Number(process.argv[2]), '127.0.0.1')
