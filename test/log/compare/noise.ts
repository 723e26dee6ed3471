import { fractions } from '../../support/random.mjs'
import type { MadeRecord } from './reference.ts'

const WORDS =
  'alpha bravo carbon delta ember fossil gamma harbor indigo jasper kelvin lumen magnet nectar onyx'.split(
    ' ',
  )

export interface NoiseOptions {
  from: number
  to: number
  records: number
  files?: readonly string[]
}

/** Records at random times, of forty patterns, of which a few are frequent and most are rare, as logs are. */
export function noise(seed: number, { from, to, records, files = ['a.log'] }: NoiseOptions): MadeRecord[] {
  const random = fractions(seed)
  const pick = (below: number) => Math.floor(random() * below)
  const skewed = (below: number) => Math.min(below, Math.floor(below ** random())) - 1
  const made: MadeRecord[] = []
  for (let i = 0; i < records; i++) {
    const kind = skewed(40)
    const words = `${WORDS[kind % 15]} ${WORDS[(kind * 7 + 3) % 15]}${'abc'[kind % 3]} reached`
    const time = Math.floor(from + random() * (to - from))
    made.push({
      time,
      level: ['info', 'info', 'info', 'info', 'info', 'debug', 'debug', 'warn', 'error', 'info'][pick(10)]!,
      pattern: `${words} <*>`,
      message: `${words} ${pick(100_000)}`,
      fields: {
        shard: `s${pick(12)}`,
        user: `u${skewed(300)}`,
        took: Math.floor(random() * random() * 1000),
        seq: time - from,
      },
      file: files[pick(files.length)]!,
    })
  }
  return made
}
