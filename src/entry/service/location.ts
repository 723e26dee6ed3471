/** The environment, or what a platform gives in its place. */
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
