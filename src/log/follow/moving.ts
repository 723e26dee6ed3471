import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'

/** Whether a read failed because files were moved, and may succeed when retried. */
export function isMoving(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'changed'
  return error instanceof LogError && (error.code === 'unknown-file' || error.code === 'bad-archive')
}
