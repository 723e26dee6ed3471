import type { Client } from '../../../client.ts'
import type { Look, Place } from '../../url.ts'
import type { ZoneChoice } from '../find/clock.ts'
import type { Sources } from '../record/source.ts'

/** What the reader reports to its owner. */
export interface ReaderEvents {
  /** Anything that the toolbar or the status line shows has changed. */
  changed(): void
  /** The place in the log changed: what a link should name. */
  moved(place: Place): void
  say(message: string): void
}

/** How records are displayed. */
export interface DisplayOptions {
  wrap: boolean
  /** Whether rows show the time since the record above. */
  gaps: boolean
  /** Fields that are shown as columns. */
  fields: readonly string[]
  /** Classes that hide columns. */
  classes: string
  zone: ZoneChoice
  /** The logs that are read as one, or null for a single one. */
  sources: Sources | null
  /** Whether there are other logs or nodes to look at. */
  others: boolean
}

export interface ReaderOptions extends DisplayOptions {
  client: Client
  look: Look
  events: ReaderEvents
}
