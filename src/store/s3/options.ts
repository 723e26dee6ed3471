import type { BucketOptions } from '../remote/bucket.ts'

/** Where a bucket is and how to reach it. */
export interface S3Options extends BucketOptions {
  bucket: string
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
  /** @default the runtime's own */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}
