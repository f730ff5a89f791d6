import express from 'express'

const app = express()
app.get('/', (_req, res) => res.send('hello'))
app.listen(Number(process.argv[2]), '127.0.0.1')
