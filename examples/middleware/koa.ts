import { koaGate } from 'headgate/koa'
import Koa from 'koa'

const app = new Koa()
app.use(koaGate({ limits: { Api: { burst: 3, period: '1m' } } }))
app.use((ctx) => {
  ctx.body = 'hello'
})
app.listen(Number(process.env['PORT'] ?? 3000))
