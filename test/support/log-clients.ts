import { serverEvents } from '../../src/doors/client/events.ts'

/** An app, or whatever else answers requests. */
export interface Answers {
  request(request: Request): Response | Promise<Response>
}

/** What one client got of a log with numbered lines. */
export interface Got {
  who: string
  numbers: number[]
  /** Names of the events other than records, and notes. */
  told: string[]
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const BASE = 'http://localhost/api/v1/log/view'

/** The numbers of lines such as `… number 17 …`. */
export function numbersOf(text: string): number[] {
  return [...text.matchAll(/number (\d+) /g)].map((found) => Number(found[1]))
}

/** Follows with events until it has seen the last line. With `stays` in ms it leaves after that time and comes back. */
export async function follow(app: Answers, file: string, isDone: IsDone, stays: number | null): Promise<Got> {
  const got: Got = { who: stays === null ? 'follower' : 'follower that reconnects', numbers: [], told: [] }
  for (let lastId: string | null = null; ; ) {
    const abort = new AbortController()
    const headers: Record<string, string> = { Accept: 'text/event-stream' }
    if (lastId) headers['Last-Event-ID'] = lastId
    const url = `${BASE}?file=${encodeURIComponent(file)}&follow=true&lines=1`
    // Held until the end: the signal of a request that was collected never fires.
    const request = new Request(url, { headers, signal: abort.signal })
    const response = await app.request(request)
    if (response.status !== 200) throw new Error(`${got.who}: ${response.status} ${await response.text()}`)
    const timer = setInterval(() => isDone(got.numbers) && abort.abort(), 50)
    const leave = stays === null ? null : setTimeout(() => abort.abort(), stays)
    try {
      for await (const event of serverEvents(response.body!, () => {})) {
        if (event.id) lastId = event.id
        if (event.event) got.told.push(event.event)
        else if (event.data) got.numbers.push(...numbersOf(`${event.data} `))
        if (abort.signal.aborted) break
      }
    } catch {
      // Aborted.
    }
    clearInterval(timer)
    if (leave) clearTimeout(leave)
    abort.abort()
    if (isDone(got.numbers)) return got
    if (stays === null && !request.signal.aborted) throw new Error('The stream ended')
    await sleep(stays === null ? 10 : 100)
  }
}

export type IsDone = (numbers: readonly number[]) => boolean

/** Asks for `rel=next` again and again. A cursor whose file is gone is told; it then starts with what is there. */
export async function poll(app: Answers, file: string, isDone: IsDone): Promise<Got> {
  const got: Got = { who: 'poller', numbers: [], told: [] }
  const start = `${BASE}?file=${encodeURIComponent(file)}&size=100000000`
  for (let url = start; ; ) {
    const response = await app.request(new Request(url))
    const text = await response.text()
    const note = response.headers.get('X-Nodestate-Note')
    if (note) got.told.push(note)
    if (response.status === 410) {
      got.told.push('gap')
      url = start
      continue
    }
    if (response.status === 200) {
      got.numbers.push(...numbersOf(text))
      const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
      if (!next) throw new Error('There is no rel=next')
      url = new URL(next, url).href
    } else if (response.status !== 404 && response.status !== 503) {
      throw new Error(`poller: ${response.status} ${text}`)
    }
    if (isDone(got.numbers)) return got
    await sleep(40)
  }
}

/** Why what a client got is wrong; null when every line came once, in order. */
export function faultOf({ who, numbers }: Got, mayMiss = false): string | null {
  for (let i = 1; i < numbers.length; i++) {
    const [one, two] = [numbers[i - 1]!, numbers[i]!]
    if (two <= one) return `${who} got ${two} again after ${one}`
    if (two > one + 1 && !mayMiss) return `${who} lost ${one + 1} to ${two - 1}`
  }
  return numbers.length > 0 ? null : `${who} got nothing`
}
