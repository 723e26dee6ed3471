import { detectFormat } from '../format/detect.ts'
import { keyPeriod } from '../join/layout.ts'
import { firstTime } from '../text/format.ts'
import type { Opener } from '../text/open.ts'
import type { Text } from '../text/text.ts'
import type { Zone } from '../time.ts'
import type { JoinedLog } from './log.ts'
import { memberText } from './member.ts'
import { MARGIN } from './reach.ts'

const HEAD_BYTES = 16 * 1024

/**
 * Whether records are not from about the time in the keys of their objects, because the clock of the log was wrong: then
 * keys do not tell where a period is. Both ends of the log are looked at, and those of what is open.
 */
export async function isSkewed(opener: Opener, log: JoinedLog, open: readonly Text[]): Promise<boolean> {
  const { zone, budget } = opener
  if (!zone) return false
  const ends = (await log.ends(budget.signal)) ?? []
  const texts = [
    open[0]!,
    open.at(-1)!,
    ...ends.map(({ entry }) => memberText({ ...opener, files: log.files }, entry)),
  ]
  const skewed = await Promise.all(
    [...new Map(texts.map((text) => [text.name, text])).values()].map(async (text) => {
      const known = log.skewed.get(text.name) ?? (await isFarFromKey(text, zone))
      log.skewed.set(text.name, known)
      return known
    }),
  )
  return skewed.includes(true)
}

async function isFarFromKey(text: Text, zone: Zone): Promise<boolean> {
  const period = keyPeriod(text.name)
  if (!period) return false
  const head = await text.head(HEAD_BYTES)
  const time = firstTime(detectFormat(head, undefined, { reference: text.entry.modified }), zone, head)
  return time < period.from - MARGIN || time > period.to + MARGIN
}
