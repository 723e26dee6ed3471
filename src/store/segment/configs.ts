/** The folder of a home that holds every version of its configuration, masked. */
export const CONFIGS = 'configs/'

/** Times are written as their complement to this, so that a LIST returns the newest version first. */
const LAST = 999_999_999_999_999
const NAME = /^configs\/(\d{15})-([0-9a-f]{8})\.toml$/

export interface VersionName {
  /** When the shipper first saw it, in milliseconds since the Unix epoch. */
  time: number
  /** The CRC-32 of its masked text: that of the original would tell when a secret changes. */
  crc: number
}

export function versionKey({ time, crc }: VersionName): string {
  return `${versionsSince(time)}-${crc.toString(16).padStart(8, '0')}.toml`
}

export function parseVersion(key: string): VersionName | null {
  const found = NAME.exec(key)
  return found && { time: LAST - Number(found[1]), crc: Number.parseInt(found[2]!, 16) }
}

/** The key before those of the versions that were first seen at `time` or earlier. */
export function versionsSince(time: number): string {
  const back = LAST - Math.min(LAST, Math.max(0, Math.floor(time)))
  return CONFIGS + String(back).padStart(15, '0')
}
