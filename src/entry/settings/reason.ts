/** Why a file cannot be read, in words. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code ?? ''] ?? (code ? `the system says ${code}` : 'it cannot be read')
}

/** The system's code of an error, such as ENOENT. */
export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : null
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file; check the path',
  EACCES: 'permission denied; make it readable for this user',
  EPERM: 'permission denied; make it readable for this user',
  EISDIR: 'it is a directory; name a file',
  ENOTDIR: 'a part of its path is not a directory; check the path',
  ELOOP: 'it is a link that leads to itself; check the path',
}
