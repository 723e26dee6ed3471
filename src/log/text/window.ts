import type { Entry } from '../../store/store.ts'
import type { Fingerprint } from './cursor.ts'
import type { Text } from './text.ts'

/** A part of a file, as if there were nothing before or after it. Its cursors still point into the file. */
export class TextWindow implements Text {
  readonly name: string
  readonly entry: Entry
  readonly compressed = false
  readonly begin: number
  readonly #text: Text

  /** `begin` and `end` count from the start of the file, of which `text` may be a window already. */
  constructor(text: Text, begin: number, end: number) {
    this.#text = text instanceof TextWindow ? text.#text : text
    this.begin = begin
    this.name = text.name
    this.entry = { ...text.entry, size: end - begin }
  }

  async size(): Promise<number> {
    return this.entry.size
  }

  async reaches(size: number): Promise<boolean> {
    return this.entry.size >= size
  }

  read(from: number, to: number): Promise<Uint8Array> {
    return this.#text.read(from + this.begin, to + this.begin)
  }

  async ensure(from: number, to: number): Promise<void> {
    await this.#text.ensure?.(from + this.begin, to + this.begin)
  }

  head(length: number): Promise<Uint8Array> {
    return this.read(0, Math.min(length, this.entry.size))
  }

  known(offset: number): Fingerprint | null {
    return this.#text.known(offset + this.begin)
  }
}
