import type { BucketOptions } from '../remote/bucket.ts'

/** What requests are signed with. */
export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  /** When they expire. @default never */
  expiration?: Date | undefined
}

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
   * Instead of an access key: credentials, or a function that gets them, such as the providers of the AWS SDKs. It is
   * called again before they expire. A failing call is an error of the request that needed it, and is not remembered.
   */
  credentials?: S3Credentials | (() => Promise<S3Credentials>) | undefined
  /**
   * The bucket in the path instead of the host name.
   * @default true with a custom endpoint, or if the name does not fit into a host name
   */
  pathStyle?: boolean | undefined
  /** @default the runtime's own */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}
