import { DiskError, type Handle } from '../disk/disk.ts'
import { bytesOf, type Log } from '../logs.ts'
import type { World } from '../world.ts'

/** Opens a file of a log to write. An empty one gets the log's header, if there is room for it. */
export function openLog({ disk }: World, { settings: { header, crlf } }: Log, name: string): Handle {
  const handle = disk.openToWrite(name)
  if (header === undefined || handle.inode.size > 0) return handle
  const bytes = bytesOf(header + (crlf ? '\r\n' : '\n'))
  if (disk.used + bytes.length <= disk.capacity) handle.append(bytes)
  return handle
}

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
