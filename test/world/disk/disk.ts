/** A file without its names. */
export interface Inode {
  ino: number
  bytes: Uint8Array<ArrayBuffer>
  size: number
  /** Milliseconds since the Unix epoch, as coarse as the disk's tick. */
  modified: number
  changed: number
  born: number
  links: number
  handles: number
  isReadable: boolean
}

export interface DiskOptions {
  /** Times are whole multiples of this many milliseconds: two changes within one have equal times. @default 1 */
  tick?: number
  /** Whether the number of a removed file is given to the next one, as ext4 and tmpfs do. @default false */
  reusesInodes?: boolean
}

/** An error of the operating system, with its code. */
export class DiskError extends Error {
  override readonly name = 'DiskError'
  readonly code: string

  constructor(code: string, what: string) {
    super(`${code}: ${what}`)
    this.code = code
  }
}

/**
 * A directory in memory, as an operating system shows it to several processes: each call is one piece, and what it
 * changed is seen by the next call of anybody. Names may have slashes; folders exist while there are files in them.
 * `store.ts` and `ship.ts` are its two faces to the product; actors call it directly.
 */
export class Disk {
  readonly #names = new Map<string, Inode>()
  readonly #now: () => number
  readonly #tick: number
  readonly #reuses: boolean
  readonly #free: number[] = []
  readonly #watchers = new Set<(name: string) => void>()
  #inodes = 100
  #revision = 0
  #used = 0
  /** Bytes that fit. */
  capacity = Number.POSITIVE_INFINITY
  /** Which part of the app's calls fails, from 0 to 1, as on a network file system. */
  failing = 0
  /** Whether the directory is there. */
  exists = true
  /** Whether the directory may be listed and its files looked at. */
  isReadable = true

  constructor(now: () => number, { tick = 1, reusesInodes = false }: DiskOptions = {}) {
    this.#now = now
    this.#tick = tick
    this.#reuses = reusesInodes
  }

  // What processes see.

  /** The names in it. Throws ENOENT or EACCES. */
  names(): string[] {
    this.#check()
    return [...this.#names.keys()]
  }

  /** A file by its name; null when there is none. */
  look(name: string): Inode | null {
    this.#check()
    return this.#names.get(name) ?? null
  }

  /** Changes when a name appears or disappears. */
  get revision(): number {
    return this.#revision
  }

  /** Calls back when a file of any name may have changed. */
  watch(changed: (name: string) => void): () => void {
    this.#watchers.add(changed)
    return () => void this.#watchers.delete(changed)
  }

  /** Bytes of all files. */
  get used(): number {
    return this.#used
  }

  get watchers(): number {
    return this.#watchers.size
  }

  /** How many files are open. */
  get handles(): number {
    return this.#handles
  }

  #handles = 0

  /** Opens a file to read; null when there is none. It stays readable after it was renamed or removed. */
  openToRead(name: string): Handle | null {
    const inode = this.look(name)
    if (inode === null) return null
    if (!inode.isReadable) throw new DiskError('EACCES', name)
    return this.#open(name, inode)
  }

  // What writers and rotators do.

  /** Opens a file to append to it, as it is or empty; it is made when there is none. */
  openToWrite(name: string, { empty = false }: { empty?: boolean } = {}): Handle {
    let inode = this.#names.get(name)
    if (!inode) {
      const time = this.#time()
      const ino = this.#reuses ? (this.#free.pop() ?? ++this.#inodes) : ++this.#inodes
      const times = { modified: time, changed: time, born: time }
      inode = { ino, bytes: new Uint8Array(256), size: 0, ...times, links: 1, handles: 0, isReadable: true }
      this.#names.set(name, inode)
      this.#revision++
      this.#tell(name)
    } else if (empty && inode.size > 0) this.#truncate(inode, 0, name)
    return this.#open(name, inode)
  }

  /** Gives a file another name, over another file perhaps. */
  rename(from: string, to: string): void {
    const inode = this.#names.get(from)
    if (!inode) throw new DiskError('ENOENT', from)
    const over = this.#names.get(to)
    if (over === inode) return
    if (over) this.#drop(over)
    this.#names.delete(from)
    this.#names.set(to, inode)
    inode.changed = this.#time()
    this.#revision++
    this.#tell(from)
    this.#tell(to)
  }

  /** A second name for a file. */
  link(from: string, to: string): void {
    const inode = this.#names.get(from)
    if (!inode) throw new DiskError('ENOENT', from)
    if (this.#names.has(to)) throw new DiskError('EEXIST', to)
    this.#names.set(to, inode)
    inode.links++
    inode.changed = this.#time()
    this.#revision++
    this.#tell(to)
  }

  unlink(name: string): void {
    const inode = this.#names.get(name)
    if (!inode) throw new DiskError('ENOENT', name)
    this.#names.delete(name)
    this.#drop(inode)
    this.#revision++
    this.#tell(name)
  }

  /** Sets whether a file can be opened. Open handles go on. */
  allow(name: string, isReadable: boolean): void {
    const inode = this.#names.get(name)
    if (!inode || inode.isReadable === isReadable) return
    inode.isReadable = isReadable
    inode.changed = this.#time()
    this.#tell(name)
  }

  /** The times of a file as `touch` and a restore set them. */
  touch(name: string, modified: number): void {
    const inode = this.#names.get(name)
    if (!inode) throw new DiskError('ENOENT', name)
    inode.modified = modified
    inode.changed = this.#time()
    this.#tell(name)
  }

  /** A file whatever the permissions, as its owner sees it; null when there is none. */
  inodeOf(name: string): Inode | null {
    return this.#names.get(name) ?? null
  }

  /** All its bytes. */
  bytesOf(name: string): Uint8Array<ArrayBuffer> | null {
    const inode = this.#names.get(name)
    return inode ? inode.bytes.slice(0, inode.size) : null
  }

  /** The names, whatever the permissions. */
  get all(): string[] {
    return [...this.#names.keys()]
  }

  #check(): void {
    if (!this.exists) throw new DiskError('ENOENT', 'the directory')
    if (!this.isReadable) throw new DiskError('EACCES', 'the directory')
  }

  #open(name: string, inode: Inode): Handle {
    inode.handles++
    this.#handles++
    let isOpen = true
    return {
      inode,
      append: (bytes) => this.#append(inode, bytes, name),
      truncate: (size) => this.#truncate(inode, size, name),
      read: (offset, length) => inode.bytes.slice(offset, Math.min(inode.size, offset + length)),
      close: () => {
        if (!isOpen) return
        isOpen = false
        inode.handles--
        this.#handles--
        this.#release(inode)
      },
    }
  }

  #append(inode: Inode, bytes: Uint8Array, name: string): number {
    const count = Math.max(0, Math.min(bytes.length, this.capacity - this.#used))
    if (count === 0 && bytes.length > 0) throw new DiskError('ENOSPC', name)
    if (inode.size + count > inode.bytes.length) {
      const larger = new Uint8Array(Math.max(inode.size + count, inode.bytes.length * 2))
      larger.set(inode.bytes.subarray(0, inode.size))
      inode.bytes = larger
    }
    inode.bytes.set(bytes.subarray(0, count), inode.size)
    inode.size += count
    this.#used += count
    this.#written(inode, name)
    return count
  }

  #truncate(inode: Inode, size: number, name: string): void {
    if (size > inode.size) inode.bytes = grown(inode, size)
    this.#used += size - inode.size
    inode.size = size
    // Bytes beyond the end are zeros when the file grows again over them.
    inode.bytes = inode.bytes.slice(0, Math.max(256, size)).fill(0, size)
    this.#written(inode, name)
  }

  #written(inode: Inode, opened: string): void {
    inode.modified = inode.changed = this.#time()
    const names = this.#names.get(opened) === inode ? [opened] : this.#namesOf(inode)
    for (const name of names) this.#tell(name)
  }

  #namesOf(inode: Inode): string[] {
    return [...this.#names].flatMap(([name, other]) => (other === inode ? [name] : []))
  }

  #drop(inode: Inode): void {
    inode.links--
    inode.changed = this.#time()
    this.#release(inode)
  }

  /** A file is gone when it has neither a name nor a handle. */
  #release(inode: Inode): void {
    if (inode.links > 0 || inode.handles > 0) return
    this.#used -= inode.size
    this.#free.push(inode.ino)
  }

  #tell(name: string): void {
    for (const changed of this.#watchers) changed(name)
  }

  #time(): number {
    return Math.floor(this.#now() / this.#tick) * this.#tick
  }
}

/** An open file. */
export interface Handle {
  readonly inode: Inode
  /** Appends bytes, fewer than given when the disk gets full; throws ENOSPC when none fit. */
  append(bytes: Uint8Array): number
  truncate(size: number): void
  read(offset: number, length: number): Uint8Array<ArrayBuffer>
  close(): void
}

function grown(inode: Inode, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size)
  larger.set(inode.bytes.subarray(0, inode.size))
  return larger
}
