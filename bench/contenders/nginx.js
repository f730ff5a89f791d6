/** nginx with `limit_req`, one worker, as a server that counts requests by an argument. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '../daemon.js'
import { LeftOut } from '../left-out.js'
import { programVersion, provideProgram } from '../provide.js'

export const nginxVersion = () => `nginx ${programVersion('nginx', '-v')}`

export const provideNginx = (say) => provideProgram('nginx', ['nginx-light', 'nginx'], say)

/** Serves `/limited?id=…`, which never refuses, and `/control?id=…`, which admits one a minute. */
export const startNginx = async () => {
  if (!provideNginx(() => {})) {
    throw new LeftOut('nginx is not installed, and could not be installed with apt-get')
  }
  const argsFor = ({ folder, port }) => {
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, configuration(folder, port))
    return ['-e', join(folder, 'error.log'), '-p', folder, '-c', file]
  }
  const server = await startServer('nginx', argsFor, '/limited?id=first')
  await expectLimited(server.url)
  return server
}

// `return` would answer before limit_req counts; a content handler such as empty_gif comes after.
const configuration = (folder, port) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  limit_req_status 429;
  limit_req_zone $arg_id zone=plenty:32m rate=100000r/s;
  limit_req_zone $arg_id zone=control:1m rate=1r/m;
  server {
    listen 127.0.0.1:${port};
    location /limited { limit_req zone=plenty burst=100000 nodelay; empty_gif; }
    location /control { limit_req zone=control; empty_gif; }
  }
}
`

/** A control: were the limiter switched off by its configuration, the row would mean nothing. */
const expectLimited = async (url) => {
  const statuses = []
  for (let n = 0; n < 2; n++) statuses.push((await fetch(`${url}/control?id=a`)).status)
  if (statuses.join() !== '200,429') throw new Error(`nginx does not limit: ${statuses}`)
}
