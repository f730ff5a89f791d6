import express from 'express'
import { expressGate } from 'headgate/express'

const app = express()
app.use(expressGate({ limits: { Api: { burst: 3, period: '1m' } } }))
app.get('/', (_req, res) => void res.send('hello'))
app.listen(Number(process.env['PORT'] ?? 3000))
