export { type AppOptions, createApp } from './app.ts'
export type { NodeFacts, NodeInfo } from './node/identity.ts'
export { MASK, redact } from './node/redact.ts'
export type { Page, PageAsset } from './routes/page.ts'
export {
  type ByteRange,
  type Bytes,
  type Entry,
  type EntryList,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreRead,
} from './store/store.ts'
export { VERSION } from './version.ts'
