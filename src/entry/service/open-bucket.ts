import { fromEnv, type S3Options, s3Store } from '../../store/s3.ts'
import { type Store, StoreError } from '../../store/store.ts'
import { SettingsError, shown } from '../settings/row.ts'
import type { BucketPlace, Environment, Scheme } from './location.ts'

/** Credentials, region and endpoint of a bucket from the standard `AWS_*` variables. Throws a SettingsError. */
/** Which folder of a place, and whether its own folders are shown. */
interface Below {
  below?: string
  nested?: boolean
}

export function bucketOptions(
  { bucket, prefix }: BucketPlace,
  env: Environment,
  { below = '', nested = false }: Below = {},
): S3Options {
  const options = fromEnv(env)
  if (!options.accessKeyId !== !options.secretAccessKey) {
    const [set, missing] = options.accessKeyId
      ? ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY']
      : ['SECRET_ACCESS_KEY', 'ACCESS_KEY_ID']
    throw new SettingsError('usage', `Cannot use AWS_${set} alone: set AWS_${missing} too, or neither.`)
  }
  return {
    bucket,
    prefix: [prefix, below].filter(Boolean).join('/'),
    nested,
    ...options,
  }
}

/** What opens the buckets of each scheme. */
const STORES: Record<Scheme, (place: BucketPlace, env: Environment, below: Below) => Store> = {
  s3: (place, env, below) => opened(s3Store, bucketOptions(place, env, below)),
}

/** Opens a place in a bucket; without credentials it is read as a public one. Throws a SettingsError. */
export function openBucket(place: BucketPlace, env: Environment, below: Below = {}): Store {
  return STORES[place.scheme](place, env, below)
}

/** Opens a bucket; failures become SettingsErrors. */
export function opened<T, O extends S3Options>(open: (options: O) => T, options: O): T {
  try {
    return open(options)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const name = shown(`s3://${options.bucket}`)
    throw new SettingsError(
      'usage',
      `Cannot use ${name}: ${error.message}; check its name and AWS_ENDPOINT_URL.`,
      {
        cause: error,
      },
    )
  }
}
