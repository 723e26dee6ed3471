import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Whether certificates can be made here: it takes the openssl program. */
export function hasOpenssl(): boolean {
  return spawnSync('openssl', ['version']).status === 0
}

/** The files of a certificate for 127.0.0.1 and of its key, good for a day. */
export function certificate(directory: string, name: string): { cert: string; key: string } {
  const [cert, key] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'pipe',
  })
  return { cert, key }
}
