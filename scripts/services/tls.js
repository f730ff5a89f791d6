/** A private Redis that takes TLS alone, with a certificate by an authority of our own. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { hasProgram, programEnvironment } from '../programs.js'
import { removeFolder, scratchFolder } from './instance.js'
import { redisReason, startSomewhere } from './redis.js'

export const tlsReason = (say) =>
  redisReason(say) ?? (hasProgram('openssl') ? undefined : 'openssl is missing')

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Writes ca.pem, server.pem and server.key. */
const certify = (folder) => {
  const openssl = (...words) =>
    execFileSync('openssl', words, { cwd: folder, env: programEnvironment, stdio: 'pipe' })
  const authority = ['-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Headgate test CA']
  openssl('req', '-x509', ...KEY, ...authority, '-days', '2')
  openssl('req', ...KEY, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  writeFileSync(`${folder}/names`, 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem', '-days', '2')
}

export const startTls = async (settings = []) => {
  const folder = scratchFolder()
  certify(folder)
  const authority = `${folder}/ca.pem`
  const own = ['--tls-cert-file', `${folder}/server.pem`, '--tls-key-file', `${folder}/server.key`]
  const server = await startSomewhere(
    async (port) => [
      ...['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1'],
      ...['--dir', folder, '--save', '', ...own],
      ...['--tls-ca-cert-file', authority, '--tls-auth-clients', 'no', ...settings],
    ],
    ['--tls', '--cacert', authority],
  )
  return {
    ...server,
    url: `rediss://127.0.0.1:${server.port}`,
    ports: [server.port],
    ca: readFileSync(authority, 'utf8'),
    stop: async () => {
      await server.kill()
      removeFolder(folder)
    },
  }
}
