export { type AppOptions, createApp } from './app.ts'
export { MASK, redact } from './mask/redact.ts'
export type { NodeFacts, NodeInfo } from './node/identity.ts'
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
