import process from 'node:process'
import { sleep, systemClock } from '../../kit/limits/clock.ts'
import type { CommandLine } from '../../kit/usage.ts'
import { persistent, Stopped } from '../../ship/bucket.ts'
import { compact } from '../../ship/compact.ts'
import { s3Bucket } from '../../ship/s3.ts'
import { CodecError } from '../../store/codec/error.ts'
import { fsStore } from '../../store/fs.ts'
import { StoreError } from '../../store/store.ts'
import { type Environment, parseBucket } from '../service/location.ts'
import { bucketOptions, openBucket, opened } from '../service/open-bucket.ts'
import { COMPACT_SETTINGS, compactHelp, loadCompactSettings } from '../settings/compact.ts'
import { flagsOf } from '../settings/flags.ts'
import { directoryBucket } from './directory.ts'
import { nativeOf } from './disk.ts'

export const COMPACT_FLAGS = flagsOf(COMPACT_SETTINGS)
export { compactHelp }

const SEGMENT_BYTES = 8 * 1024 * 1024
/** After this many writes that failed, the rest is left to the next run. */
const MOST_FAILURES = 20

/** `nodestate compact`: the exit code. Throws a SettingsError. */
export async function runCompact(line: CommandLine, env: Environment = process.env): Promise<number> {
  let failures = 0
  const { target, expire } = loadCompactSettings(line, env)
  const place = parseBucket(target)
  const given = place ? opened(s3Bucket, bucketOptions(place, env)) : directoryBucket(target)
  const patient = persistent(given, {
    random: Math.random,
    sleep: (ms) => sleep(systemClock, ms),
    givesUp: () => ++failures > MOST_FAILURES,
    isFatal: (error) => error instanceof StoreError && error.code === 'denied',
    onFailure: () => {},
  })
  try {
    const { homes, merged, into, expired } = await compact({
      store: place ? openBucket(place, env) : fsStore(target, { nested: true }),
      bucket: { put: patient.put, remove: given.remove },
      native: nativeOf(),
      segmentBytes: SEGMENT_BYTES,
      expireMs: expire,
    })
    if (homes === 0) {
      process.stderr.write(
        'nodestate: There is nothing here that nodestate ship wrote; name a home or a folder of homes.\n',
      )
      return 1
    }
    process.stdout.write(
      `${homes} home${homes === 1 ? '' : 's'}: made ${into} segments of ${merged}, deleted ${expired} expired objects\n`,
    )
    return 0
  } catch (error) {
    const isKnown = error instanceof StoreError || error instanceof CodecError || error instanceof Stopped
    if (!isKnown) throw error
    process.stderr.write(`nodestate: ${error.message.replace(/\.$/, '')}.\n`)
    return 1
  }
}
