import { fastReads, SlicedStream, slicesOf, tapped, withFastReads } from '../../store/fast.ts'
import { type EveryMember, type Store, StoreError, type StoreRead } from '../../store/store.ts'
import type { Counter, Registry } from './registry.ts'

const OPERATIONS = ['list', 'stat', 'read'] as const
type Operation = (typeof OPERATIONS)[number]
/** Kinds that are shown from the start: an alert on a rate misses the first failure of a new series. */
const KINDS = ['unavailable', 'denied', 'throttled', 'timeout']

/** A store whose calls are counted: requests, bytes and errors by kind. */
export function observedStore(store: Store, registry: Registry): Store {
  const requests = registry.counter('nodestate_store_requests', 'Calls of the store, by operation.')
  const bytes = registry.counter('nodestate_store_read_bytes', 'Bytes requested from the store.')
  const errors = registry.counter(
    'nodestate_store_errors',
    'Failed calls of the store, by operation and kind.',
  )
  for (const operation of OPERATIONS) {
    requests.add(0, { operation })
    for (const kind of KINDS) errors.add(0, { operation, kind })
  }
  const failed =
    (operation: Operation) =>
    (error: unknown): never => {
      count(errors, operation, error)
      throw error
    }
  const addBytes = bytes.with()
  const call = <T>(operation: Operation, called: Promise<T>, then?: (result: T) => T): Promise<T> => {
    requests.add(1, { operation })
    return called.then(then, failed(operation))
  }
  const counted = <R extends StoreRead | null | undefined>(read: R): R => {
    if (!read) return read
    addBytes(read.length)
    const { body } = read
    return body instanceof ReadableStream ? { ...read, body: watched(body, failed('read')) } : read
  }
  const observed: EveryMember<Store> = {
    nested: store.nested,
    async *list(prefix, options) {
      requests.add(1, { operation: 'list' })
      try {
        yield* store.list(prefix, options)
      } catch (error) {
        count(errors, 'list', error)
        throw error
      }
    },
    stat: (key, options) => call('stat', store.stat(key, options)),
    read: (key, range, options) => call('read', store.read(key, range, options), counted),
    spans: store.spans && ((entry, signal) => store.spans!(entry, signal)),
    watch: store.watch && ((key, changed) => store.watch!(key, changed)),
  }
  const fast = fastReads(store)
  if (!fast) return observed
  return withFastReads(observed, {
    listAll: (prefix, most) => call('list', fast.listAll(prefix, most)),
    revision: () => fast.revision(),
    readInto: (key, range, buffer, options) =>
      call('read', fast.readInto(key, range, buffer, options), counted),
  })
}

function watched(body: ReadableStream<Uint8Array>, failed: (error: unknown) => never): SlicedStream {
  const slices = slicesOf(body)
  return new SlicedStream({
    ...tapped(slices, (slice) => slice, failed),
    each: slices.each && ((take) => slices.each!(take).catch(failed)),
  })
}

/** A failed condition is an answer, and a client that disconnects is not an error of the store. */
function count(errors: Counter, operation: string, error: unknown): void {
  const kind = error instanceof StoreError ? error.code : 'other'
  const isAbort = error instanceof Error && error.name === 'AbortError'
  if (kind !== 'unchanged' && kind !== 'changed' && !isAbort) errors.add(1, { operation, kind })
}
