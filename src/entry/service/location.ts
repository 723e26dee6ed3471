import { SCHEMES } from '../settings/kinds.ts'

/** The environment, or the platform's equivalent. */
export type Environment = Readonly<Record<string, string | undefined>>

export type Scheme = (typeof SCHEMES)[number]

/** A place in a bucket, as `s3://bucket/prefix` names it. */
export interface BucketPlace {
  scheme: Scheme
  bucket: string
  prefix: string
}

/** Reads `s3://bucket/prefix`; null for anything else, which is a directory. */
export function parseBucket(location: string): BucketPlace | null {
  const [, name, bucket, path = ''] = /^(\w+):\/\/([^/]+)(?:\/(.*))?$/s.exec(location) ?? []
  const scheme = SCHEMES.find((scheme) => scheme === name)
  return scheme ? { scheme, bucket: bucket!, prefix: path.replace(/^\/+|\/+$/g, '') } : null
}

/** What a location is called: its last path part, or the name of the bucket. */
export function nameOf(location: string): string {
  const parts = location.replace(/^\w+:\/\//, '').split(/[\\/]+/)
  return parts.filter((part) => part !== '' && part !== '.').at(-1) ?? 'log'
}
