import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'

/** Whether a read failed because files were moved, and may succeed when retried. */
export function isMoving(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'changed'
  return error instanceof LogError && (error.code === 'unknown-file' || error.code === 'bad-archive')
}

/** Files move while they are read; undefined means to try again later. */
export async function unlessMoving<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isMoving(error)) return undefined
    throw error
  }
}
