/** A new token of 256 random bits, and its digest, which a tokens file can hold instead of the secret. */
export async function makeToken(): Promise<{ token: string; digest: string }> {
  const token = base64Url(crypto.getRandomValues(new Uint8Array(32)))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  return {
    token,
    digest: `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  }
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
