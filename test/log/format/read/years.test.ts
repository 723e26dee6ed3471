import { describe, expect, it } from 'vitest'
import { yearsBefore } from '../../../../src/log/format/read/years.ts'
import { UTC } from '../../../../src/log/time.ts'
import { clockOf, dayOf } from '../../../../src/log/wall-clock.ts'
import { wholes } from '../../../support/random.mjs'

const DAY = 86_400_000

describe('the year of a day without one', () => {
  it('is the same whether the day before it was the same or not', () => {
    const random = wholes(7)
    for (let round = 0; round < 40; round++) {
      const reference = Date.UTC(2024 + random(5), random(12), 1 + random(28), random(24), random(60))
      const keeping = yearsBefore(() => reference)
      for (let i = 0; i < 200; i++) {
        // Around the reference, a year before it, and anywhere.
        const near = reference - [0, 365 * DAY, random(365) * DAY][random(3)]! + (random(8) - 4) * DAY
        const date = new Date(near)
        const [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()]
        for (const clock of [0, 1, random(24), 23]) {
          const at = (year: number) => UTC.toEpoch(dayOf(year, month, day), clockOf(clock, 59, 59, 999))
          expect(keeping(month, day, at), `${month}-${day} ${clock}, ${reference}`).toBe(
            yearsBefore(() => reference)(month, day, at),
          )
        }
      }
    }
  })
})
