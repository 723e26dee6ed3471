import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { codeOf, reasonOf } from '../settings/reason.ts'
import { shown } from '../settings/row.ts'
import { type Settings, SettingsError } from '../settings.ts'

/** PEM texts: a certificate chain, its private key, and the authority of client certificates if they count. */
export interface TlsTexts {
  cert: string
  key: string
  clientCa?: string
}

/** Reads the files of a certificate and checks that they can be used together. Null without TLS. */
export function readTls({ tlsCert, tlsKey, tlsClientCa }: Settings): TlsTexts | null {
  if (tlsCert === null || tlsKey === null) {
    if (tlsClientCa === null) return null
    throw new SettingsError(
      'usage',
      'Cannot use --tls-client-ca alone: set --tls-cert FILE and --tls-key FILE too.',
    )
  }
  const texts = {
    cert: readOrRefuse(tlsCert, '--tls-cert'),
    key: readOrRefuse(tlsKey, '--tls-key'),
    ...(tlsClientCa !== null && { clientCa: readOrRefuse(tlsClientCa, '--tls-client-ca') }),
  }
  checkTls({ tlsCert, tlsKey, tlsClientCa }, texts)
  return texts
}

type Paths = Pick<Settings, 'tlsCert' | 'tlsKey' | 'tlsClientCa'>

/**
 * Finds out which of the files is the bad one, because OpenSSL's message does not say. It is checked beforehand: a
 * server starts with empty files, or with a key of another kind than the certificate's, and then no client gets in.
 */
function checkTls({ tlsCert, tlsKey, tlsClientCa }: Paths, { cert, key, clientCa }: TlsTexts): void {
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
  try {
    // An empty text would trust the system's authorities: anyone with a certificate of theirs would count as signed in.
    if (clientCa !== undefined) new X509Certificate(clientCa)
  } catch (error) {
    throw refuse(
      `Cannot use --tls-client-ca ${shown(tlsClientCa!)}: it is not a certificate in PEM form.`,
      error,
    )
  }
}

/** What a file of a flag holds; throws a SettingsError if it cannot be read. */
export function readOrRefuse(
  path: string,
  flag: string,
  read: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): string {
  try {
    // A pipe can be read only once, and a FIFO waits for a writer.
    if (!statSync(path).isFile()) throw new Error('not a file')
    return read(path)
  } catch (error) {
    const reason = codeOf(error) === null ? 'it is not a regular file' : reasonOf(error)
    throw new SettingsError('file', `Cannot read ${flag} ${shown(path)}: ${reason}.`, { cause: error })
  }
}

/** How often the files are looked at: watchers miss links that are turned, which is how Kubernetes changes secrets. */
const LOOK_MS = 2000

export interface TlsWatch {
  /** Uses other texts from now on. */
  apply(texts: TlsTexts): void
  info(line: string): void
  warn(line: string): void
  /** @default 2000 */
  lookMs?: number
}

/**
 * Reads the files again when they have changed and have then stayed the same for a while, and hands over what they hold:
 * all of it, or nothing, with a warning, if they do not fit together. Returns what stops it.
 */
export function watchTls(settings: Settings, first: TlsTexts, watch: TlsWatch): () => void {
  const { tlsCert, tlsKey, tlsClientCa } = settings
  const versionNow = () => [tlsCert, tlsKey, tlsClientCa].map(versionOf).join()
  let used = JSON.stringify(first)
  let seen = versionNow()
  let done = seen
  let complaint = ''
  const look = () => {
    const present = versionNow()
    const isSettled = present === seen
    seen = present
    if (!isSettled || present === done) return
    try {
      const texts = readTls(settings)!
      // It was written meanwhile: the next look decides.
      if (versionNow() !== present) return
      done = present
      complaint = ''
      if (JSON.stringify(texts) === used) return
      createSecureContext({ cert: texts.cert, key: texts.key })
      watch.apply(texts)
      used = JSON.stringify(texts)
      watch.info(
        `The certificate was read again; it is valid until ${new X509Certificate(texts.cert).validTo}.`,
      )
    } catch (error) {
      done = present
      const reason = error instanceof Error ? error.message : String(error)
      const line = `The changed certificate cannot be used, so the one before stays: ${reason}`
      if (line !== complaint) watch.warn(line)
      complaint = line
    }
  }
  const timer = setInterval(look, watch.lookMs ?? LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function versionOf(path: string | null): string {
  if (path === null) return ''
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${ino}/${size}/${mtimeNs}/${ctimeNs}`
  } catch (error) {
    return codeOf(error) ?? 'unknown'
  }
}
