import { codeOf } from '../settings/reason.ts'
import { shown } from '../settings/row.ts'
import { type Loaded, SettingsError } from '../settings.ts'

/** Why a server cannot use its certificate, or null when that is not what failed. */
export function tlsError(error: unknown, { tlsCert, tlsKey }: Loaded['settings']): SettingsError | null {
  const code = codeOf(error)
  if (code !== null && !/^ERR_(OSSL|SSL|TLS|CRYPTO|BORINGSSL)/.test(code)) return null
  if (code === null && isNoHost(code, error)) return null
  const files = `--tls-cert ${shown(tlsCert!)} with --tls-key ${shown(tlsKey!)}`
  return new SettingsError('file', `Cannot use ${files}: OpenSSL refuses them; check both files.`, {
    cause: error,
  })
}

/** Why a server cannot listen, in the same words on every runtime. */
export function listenError(error: unknown, { host, port }: Loaded['settings']): SettingsError {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  const where = `${name.includes(':') ? `[${name}]` : name}:${port}`
  const code = codeOf(error)
  const reason =
    code === 'EADDRINUSE'
      ? 'the port is in use; stop what uses it, or choose another with --port (0 takes a free one)'
      : code === 'EACCES' || code === 'EPERM'
        ? 'this user may not use the port; choose one above 1023 with --port'
        : code === 'EADDRNOTAVAIL'
          ? 'this machine does not have that address; check --host'
          : isNoHost(code, error)
            ? 'there is no such host; check --host'
            : `the system says ${code ?? 'no'}; check --host and --port`
  return new SettingsError('file', `Cannot listen on ${shown(where)}: ${reason}.`, { cause: error })
}

/** Node names it; Bun says that the argument is invalid, and Deno has only words. */
function isNoHost(code: string | null, error: unknown): boolean {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EINVAL') return true
  return code === null && error instanceof Error && error.message.startsWith('failed to lookup address')
}
