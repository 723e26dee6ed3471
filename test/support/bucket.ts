import { AwsClient } from 'aws4fetch'

/** Writes to an S3 bucket: what the tests need and the store, which only reads, does not have. */
export function bucketWriter(options: {
  endpoint: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  region?: string
}) {
  const client = new AwsClient({
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    service: 's3',
    region: options.region ?? 'us-east-1',
    retries: 2,
  })
  const base = `${options.endpoint.replace(/\/$/, '')}/${options.bucket}`
  async function ask(
    method: string,
    path: string,
    body?: Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) {
    const answer = await client.fetch(base + path, { method, body: body ?? null, headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  }
  return {
    create: () => ask('PUT', ''),
    put: (key: string, bytes: Uint8Array | string, headers?: Record<string, string>) => {
      const body = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : new Uint8Array(bytes)
      return ask('PUT', `/${path(key)}`, body, headers)
    },
    remove: (key: string) => ask('DELETE', `/${path(key)}`),
  }
}

function path(key: string): string {
  const hex = (c: string) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`
  return key
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, hex))
    .join('/')
}
