import express from 'express'
import { rateLimit } from 'express-rate-limit'

const app = express()
app.use(rateLimit({ windowMs: 3_600_000, limit: 1_000_000 }))
app.get('/', (_req, res) => res.send('hello'))
app.listen(Number(process.argv[2]), '127.0.0.1')
