import { DiskError, type Handle } from '../disk/disk.ts'
import type { World } from '../world.ts'

/** Appends bytes. On a full disk it waits for room, as a program does that must not lose a line. */
export async function append(world: World, handle: Handle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; )
    try {
      at += handle.append(bytes.subarray(at))
    } catch (error) {
      if (!(error instanceof DiskError && error.code === 'ENOSPC')) throw error
      await world.kernel.sleep(50)
    }
}
