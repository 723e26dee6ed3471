import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { shown } from '../../settings/row.ts'
import { type Settings, SettingsError } from '../../settings.ts'

/**
 * Finds out which of the two files is the bad one, because OpenSSL's message does not say. It is checked beforehand: a
 * server starts with empty files, or with a key of another kind than the certificate's, and then no client gets in.
 */
export function checkTls({ tlsCert, tlsKey }: Settings, { cert, key }: { cert: string; key: string }): void {
  const refuse = (message: string, cause?: unknown) => new SettingsError('file', message, { cause })
  let certificate: X509Certificate
  let secret: KeyObject
  try {
    certificate = new X509Certificate(cert)
  } catch (error) {
    throw refuse(`Cannot use --tls-cert ${shown(tlsCert!)}: it is not a certificate in PEM form.`, error)
  }
  try {
    secret = createPrivateKey(key)
  } catch (error) {
    throw refuse(
      `Cannot use --tls-key ${shown(tlsKey!)}: it is not a private key in PEM form without a passphrase.`,
      error,
    )
  }
  if (!certificate.checkPrivateKey(secret)) {
    throw refuse(
      `Cannot use --tls-key ${shown(tlsKey!)}: it is not the key of the certificate ${shown(tlsCert!)}.`,
    )
  }
}
