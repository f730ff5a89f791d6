/** A certificate of our own, for servers that speak TLS: no authority knows it, and it names localhost. */
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { scratchFile } from './scratch-file.ts'

export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** Goes with the test. */
export const makeCertificate = (name = 'localhost'): Certificate => {
  const key = scratchFile('key.pem')
  const certificate = `${dirname(key)}/certificate.pem`
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const out = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-days', '1', ...curve, ...subject, ...out], {
    stdio: 'pipe',
  })
  return { certificate, key }
}
