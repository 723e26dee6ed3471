import type { RetryOptions } from '../remote/retry.ts'

/** Where a bucket is and how to reach it. */
export interface S3Options extends RetryOptions {
  bucket: string
  /** Only keys below this prefix are visible, and they are returned without it. A trailing slash is added. @default '' */
  prefix?: string | undefined
  /** The service, such as `https://minio.internal:9000`. @default Amazon's, in the region */
  endpoint?: string | undefined
  /** @default 'us-east-1' */
  region?: string | undefined
  /** Without it and its secret, requests are not signed: a public bucket. */
  accessKeyId?: string | undefined
  secretAccessKey?: string | undefined
  sessionToken?: string | undefined
  /**
   * The bucket in the path instead of the host name.
   * @default true with a custom endpoint, or if the name does not fit into a host name
   */
  pathStyle?: boolean | undefined
  /** Bodies up to this size arrive as one array, so that a retry covers the whole body. @default 1048576 */
  wholeUpTo?: number | undefined
  /** @default the runtime's own */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}
