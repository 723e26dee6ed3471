import { Budget } from '../../kit/limits/budget.ts'
import { sleep } from '../../kit/limits/clock.ts'
import { soundsCompressed } from '../../store/codec/kind.ts'
import { replaced } from '../../store/store.ts'
import { relaxedFiles } from '../files/files.ts'
import { lastFor, placeIn } from '../rotated/family.ts'
import { isRotatedName } from '../rotated/names.ts'
import { listFamily } from '../rotated/relatives.ts'
import type { Opener } from '../text/open.ts'
import type { ViewContext } from '../view/context.ts'
import type { Followed } from './change.ts'
import { Follower, type FollowRequest } from './follower.ts'
import { type FollowLimits, Hub } from './hub.ts'
import { isMoving } from './moving.ts'
import { followStream } from './stream.ts'

/** How old the size of a shipped log may be, in ms: one check then serves all its followers. */
const LOOK_AGE = 2000

export class Followers {
  readonly #context: ViewContext
  readonly #limits: FollowLimits
  readonly #hubs = new Map<string, Promise<Hub>>()
  readonly #count: { following: number }

  /** `count` is shared by several of these that have a common limit. */
  constructor(context: ViewContext, limits: FollowLimits, count = { following: 0 }) {
    this.#context = { ...context, files: relaxedFiles(context.files, LOOK_AGE) }
    this.#limits = limits
    this.#count = count
  }

  /** The stream of a log: its tail, and then whatever is appended. Errors come before it starts. */
  follow(request: FollowRequest, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return followStream(() => this.open(request, signal), this.#limits, this.#count, signal)
  }

  /**
   * A follower that is not counted, because it is one of several of the same client. Between a rotation and the first line
   * after it there may be no file: a client that reconnects then waits.
   */
  async open(request: FollowRequest, signal?: AbortSignal): Promise<Follower> {
    const { file } = request.view
    const opener = { ...this.#context, budget: new Budget({ signal, clock: this.#context.clock }) }
    for (let tries = 0; ; tries++) {
      try {
        const alone = request.last === null && (await isOutdated(opener, file))
        // A timeline may come back while a log has only archives: its own file is made with the next line.
        const archived = request.frame.parts === true && request.last !== null && soundsCompressed(file)
        const openHub = () => this.#hubOf({ file, alone, archived })
        return await Follower.open(this.#context, openHub, request, signal)
      } catch (error) {
        if (!isMoving(error) || tries >= 20 || signal?.aborted) throw error
        // Without a place in it, a log of which there is no file never existed.
        const isKnown = request.last !== null || (await listFamily(opener, file)).members.length > 0
        if (!isKnown) throw error
        await sleep(this.#context.clock, 50)
      }
    }
  }

  async #hubOf(log: Followed): Promise<Hub> {
    if (!this.#limits.shared) return Hub.open(this.#context, this.#limits, log, () => {})
    const key = `${log.alone ? 'alone' : log.archived ? 'archived' : 'log'} ${log.file}`
    const known = this.#hubs.get(key)
    const hub = known && (await known.catch(() => null))
    if (hub?.keep()) return hub
    const made = this.#hubs.get(key)
    if (made && made !== known) return this.#hubOf(log)
    const forget = () => {
      if (this.#hubs.get(key) === opening) this.#hubs.delete(key)
    }
    const opening = Hub.open(this.#context, this.#limits, log, forget)
    this.#hubs.set(key, opening)
    opening.catch(forget)
    return opening
  }
}

/** A file written this recently may have been the newest when the client chose it. */
const JUST_NOW = 60_000

/** Whether the log moved on to a newer file some time ago. Such a file is followed by itself. */
async function isOutdated(opener: Opener, file: string): Promise<boolean> {
  if (!isRotatedName(file) || (await opener.files.joined?.(file))) return false
  const family = await listFamily(opener, file)
  const own = placeIn(family, file)
  if (own < 0) {
    await opener.files.stat(file, opener.budget.signal)
    // A rotation gave its name to another file after the list was made: that one may be the newest.
    throw replaced(file)
  }
  return own < lastFor(family, file) && opener.budget.clock.now() - family.members[own]!.modified > JUST_NOW
}
