/** The environment, or the platform's equivalent. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A place in a bucket, as `s3://bucket/prefix` names it. */
export interface BucketPlace {
  bucket: string
  prefix: string
}

/** Reads `s3://bucket/prefix`; null for anything else, which is a directory. */
export function parseBucket(location: string): BucketPlace | null {
  const match = /^s3:\/\/([^/]+)(?:\/(.*))?$/s.exec(location)
  return match ? { bucket: match[1]!, prefix: (match[2] ?? '').replace(/^\/+|\/+$/g, '') } : null
}

/** What a location is called: its last path part, or the name of the bucket. */
export function nameOf(location: string): string {
  const parts = location.replace(/^s3:\/\//, '').split(/[\\/]+/)
  return parts.filter((part) => part !== '' && part !== '.').at(-1) ?? 'log'
}
