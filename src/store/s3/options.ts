import { any, calling, flag, type NeededOf, type OptionsOf, text } from '../../kit/checked.ts'
import { BUCKET } from '../remote/bucket.ts'

/** What requests are signed with. */
export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  /** When they expire. @default never */
  expiration?: Date | undefined
}

/** What a bucket cannot be found without. */
export const S3_NEEDED = { bucket: text }

/** Where a bucket is and how to reach it. */
export const S3 = {
  ...BUCKET,
  /** The service, such as `https://minio.internal:9000`. @default Amazon's, in the region */
  endpoint: text,
  /** The region that requests are signed for. @default 'us-east-1' */
  region: text,
  /** Without it and its secret, requests are not signed: a public bucket. */
  accessKeyId: text,
  secretAccessKey: text,
  sessionToken: text,
  /**
   * Instead of an access key: credentials, or a function that gets them, such as the providers of the AWS SDKs. It is
   * called again before they expire. A failing call is an error of the request that needed it, and is not remembered.
   */
  credentials: any<S3Credentials | (() => Promise<S3Credentials>)>(),
  /**
   * The bucket in the path instead of the host name.
   * @default true with a custom endpoint, or if the name does not fit into a host name
   */
  pathStyle: flag,
  /** @default the runtime's own */
  fetch: calling<(url: string, init: RequestInit) => Promise<Response>>('answers requests'),
}
export type S3Options = NeededOf<typeof S3_NEEDED> & OptionsOf<typeof S3>
