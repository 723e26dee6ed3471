import { zoneName } from '../../ui/format.ts'
import { useRemembered } from '../../ui/store.ts'
import { wall, wallAt } from '../record/record.ts'

export const ZONES = ['log', 'browser', 'UTC'] as const
export type ZoneChoice = (typeof ZONES)[number]

/** How times are shown, and what the log's own are. */
export interface Clock {
  choice: ZoneChoice
  /** Minutes east of UTC, as the API has the log's times: without a zone, the address and the API mean this one. */
  log: number
  /** Minutes east of UTC, as times are shown, at a moment. */
  at(ms: number): number
  /** A moment as shown: `2026-01-02 03:04:05.678`. */
  wall(ms: number): string
  /** A record's ISO time as shown, with all its digits. */
  text(time: string): string
}

/** The zone in which the user wants to see times, kept in the browser. */
export function useZone(): [ZoneChoice, (choice: ZoneChoice) => void] {
  const [choice, choose] = useRemembered('zone', 'log')
  return [ZONES.find((each) => each === choice) ?? 'log', choose]
}

export function clockOf(choice: ZoneChoice, log: number): Clock {
  const at = (ms: number) =>
    choice === 'log' ? log : choice === 'UTC' ? 0 : -new Date(ms).getTimezoneOffset() || 0
  return {
    choice,
    log,
    at,
    wall: (ms) => wallAt(ms, at(ms)),
    text(time) {
      const ms = Date.parse(time)
      if (choice === 'log' || Number.isNaN(ms)) return wall(time)
      // A Date has milliseconds; the log may have more digits, or none.
      return wallAt(ms, at(ms)).slice(0, 19) + (/[.,]\d+/.exec(time)?.[0] ?? '')
    },
  }
}

/** A choice in words, with what it means at a moment. */
export function zoneLabel(choice: ZoneChoice, log: number, ms: number): string {
  if (choice === 'UTC') return 'UTC'
  const name = zoneName(clockOf(choice, log).at(ms))
  return `${choice === 'log' ? 'Log' : 'Your'} time, ${name}`
}
