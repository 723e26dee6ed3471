import { SettingsError, shown } from '../../settings/row.ts'
import { s3Store } from '../../store/s3.ts'
import { type Store, StoreError } from '../../store/store.ts'
import type { BucketPlace, Environment } from './location.ts'

/**
 * A store on a place in a bucket, with credentials, region and endpoint from the standard `AWS_*` variables.
 * Without credentials the bucket is read as a public one. Throws a SettingsError.
 */
export function openBucket({ bucket, prefix }: BucketPlace, env: Environment, below = ''): Store {
  const accessKeyId = env.AWS_ACCESS_KEY_ID || undefined
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY || undefined
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    const [set, missing] = accessKeyId
      ? ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY']
      : ['SECRET_ACCESS_KEY', 'ACCESS_KEY_ID']
    throw new SettingsError('usage', `Cannot use AWS_${set} alone: set AWS_${missing} too, or neither.`)
  }
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined
  try {
    return s3Store({
      bucket,
      prefix: [prefix, below].filter(Boolean).join('/'),
      endpoint,
      region: env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined,
      accessKeyId,
      secretAccessKey,
      sessionToken: env.AWS_SESSION_TOKEN || undefined,
    })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const name = shown(`s3://${bucket}`)
    throw new SettingsError(
      'usage',
      `Cannot use ${name}: ${error.message}; check its name and AWS_ENDPOINT_URL.`,
      {
        cause: error,
      },
    )
  }
}
