import { runtime } from '#runtime'

/** What to tell the operator where the machine has a name that this process may not read, as on Deno. */
export function unknownHost(): string[] {
  if (runtime.name === 'unknown' || runtime.host().hostName !== undefined) return []
  return [
    "The system does not tell the host's name and address, so the node is shown as localhost at 127.0.0.1: " +
      'allow it (Deno: --allow-sys=hostname,networkInterfaces), or set hostName and hostIp.',
  ]
}
