import * as vitest from 'vitest'
import { storeContract } from '../../../src/store/contract.ts'
import { drivenKernel } from '../driven.ts'
import { Random } from '../kernel/random.ts'
import { Disk } from './disk.ts'
import { diskStore } from './store.ts'

// With streams from 4 KiB on, and without; with the fast calls, and without.
for (const slice of [4096, 1024 * 1024])
  for (const nested of [false, true])
    storeContract(
      vitest,
      `the world's disk, ${nested ? 'with folders, ' : ''}in slices of ${slice} bytes,`,
      () => {
        const { kernel, stop } = drivenKernel('contract')
        const now = () => Date.now()
        const disk = new Disk(now)
        const nowhere = new Disk(now)
        nowhere.exists = false
        const options = { slice, nested, isFast: !nested, isWatched: true, slowest: 1 }
        const open = (disk: Disk) => diskStore(kernel, disk, new Random('disk'), options)
        return {
          store: open(disk),
          nowhere: open(nowhere),
          put(key, bytes) {
            const handle = disk.openToWrite(key, { empty: true })
            if (bytes.length > 0) handle.append(bytes)
            handle.close()
            // A version that nobody asked for in between may have the size and the time of the one before.
            disk.touch(key, now() + Math.random())
          },
          remove: (key) => disk.unlink(key),
          close: stop,
        }
      },
      {
        ...(nested ? {} : { flat: 'a log directory is flat: what lies in folders below it is not seen' }),
        notKeys: {
          'back\\slash.log': 'a backslash separates folders on some systems, so such names are not shown',
        },
      },
    )
