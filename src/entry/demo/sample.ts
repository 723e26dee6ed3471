import { systemClock } from '../../kit/limits/clock.ts'
import { crc32 } from '../../store/codec/crc32.ts'
import { memoryStore } from '../../store/memory.ts'
import { versionKey } from '../../store/segment/configs.ts'
import { HISTORY_MS, incidentBefore, type Lines } from './incident.ts'

/** Where a log is rotated, which happens after hours; one older file is kept, so the sample has at most 18 MiB. */
const LARGEST = 3 * 1024 * 1024
/** After a machine slept, at most this much is made up for at once. */
const CATCH_UP_MS = 600_000

const NAMES = ['access.log', 'postgresql.log', 'storage.log'] as const

/**
 * The node of `nodestate demo`: its logs, in memory, up to the present second and growing, and its configuration with
 * earlier versions. Making it takes about 0.2 s.
 */
export function openSample(now = Date.now()) {
  const incident = incidentBefore(now)
  const logs = memoryStore()
  const files = NAMES.map((name) => ({ name, bytes: new Uint8Array(LARGEST), length: 0, isNew: false }))
  const encoder = new TextEncoder()

  const add = (lines: Lines) => {
    for (const file of files) {
      const text = lines[file.name]
      if (text === '') continue
      if (file.length + 3 * text.length > LARGEST) {
        logs.put(`${file.name}.1`, file.bytes.subarray(0, file.length))
        file.length = 0
      }
      file.length += encoder.encodeInto(text, file.bytes.subarray(file.length)).written
      file.isNew = true
    }
  }
  let time = now - HISTORY_MS
  const goTo = (end: number) => {
    time = Math.max(time, end - CATCH_UP_MS)
    for (; time < end; time += 1000) add(incident.second(time))
    for (const file of files) if (file.isNew) logs.put(file.name, file.bytes.subarray(0, file.length))
    for (const file of files) file.isNew = false
  }
  for (; time < now; time += 1000) add(incident.second(time))
  goTo(now)
  setInterval(() => goTo(Date.now()), 1000).unref()

  const present = incident.config.at(-1)!
  const versions = memoryStore({ 'config.toml': present.text }, { ...systemClock, now: () => present.time })
  for (const { time, text } of incident.config)
    versions.put(versionKey({ time, crc: crc32(encoder.encode(text)) }), text)
  return {
    logs,
    config: present.text,
    versions,
    node: () => ({ hostIp: '10.0.7.12', hostName: 'storage-2', grpcPort: 2891, version: '4.2.1' }),
  }
}
