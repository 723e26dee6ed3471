import { deflateRawSync } from 'node:zlib'
import { crc32 } from '../../src/store/codec/crc32.ts'

export interface ZipFile {
  name: string
  text: Buffer
  method?: 0 | 8 | 12
  flags?: number
}

/** A zip as the specification has it: local headers with their data, the directory, the end record. */
export function zipOf(members: ZipFile[], comment = ''): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, text, method = 8, flags = 0 } of members) {
    const data = method === 8 ? deflateRawSync(text) : text
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(flags, 2)
    fields.writeUInt16LE(method, 4)
    fields.writeUInt32LE(crc32(text), 10)
    fields.writeUInt32LE(data.length, 14)
    fields.writeUInt32LE(text.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), data])
    const start = Buffer.alloc(14)
    start.writeUInt32LE(at, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), fields, start, Buffer.from(name))
    locals.push(local)
    at += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...locals, listed, end, Buffer.from(comment)])
}
