export {
  type ByteRange,
  type Bytes,
  byCodePoint,
  clampRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreRead,
} from './store/store.ts'
