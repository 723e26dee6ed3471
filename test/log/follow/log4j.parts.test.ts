import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'
import { numbersOf } from '../../support/log-clients.ts'
import { expectAll, type Lines, program, WHEN_TOLD, watched } from '../../support/rotated.ts'

const JARS = '/usr/share/java'
const java = program('java', 'openjdk-17-jdk-headless')
const log4j = program('log4j-core.jar', 'liblog4j2-java', [JARS])
const missing = java.missing ?? log4j.missing

/** Rotates about every hundred lines, and keeps four files. */
const CONFIG = `<Configuration><Appenders>
  <RollingFile name="F" fileName="\${sys:logs}/core.log" filePattern="\${sys:logs}/core-%i.log\${sys:ending}">
    <PatternLayout pattern="%d %-5p [%t] %c - %m%n"/>
    <Policies><SizeBasedTriggeringPolicy size="12KB"/></Policies>
    <DefaultRolloverStrategy max="4"/>
  </RollingFile></Appenders><Loggers><Root level="info"><AppenderRef ref="F"/></Root></Loggers></Configuration>`
const PROGRAM = `import java.io.*;
import org.apache.logging.log4j.*;
public class Writer {
  public static void main(String[] args) throws Exception {
    Logger logger = LogManager.getLogger("a.B");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) logger.info(line);
    LogManager.shutdown();
  }
}`

let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nodestate-log4j-'))
  folder = join(root, 'log')
  mkdirSync(folder)
  writeFileSync(join(root, 'Writer.java'), PROGRAM)
  writeFileSync(join(root, 'log4j2.xml'), CONFIG)
  writeFileSync(join(folder, 'core.log'), '')
})
afterEach(() => rmSync(root, { recursive: true }))

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function write(lines: Lines, ending: string): Promise<void> {
  const jars = ['log4j-api.jar', 'log4j-core.jar'].map((jar) => join(JARS, jar)).join(':')
  const settings = [`-Dlogs=${folder}`, `-Dending=${ending}`, `-Dlog4j2.configurationFile=${root}/log4j2.xml`]
  const child = spawn(java.path, ['-cp', jars, ...settings, join(root, 'Writer.java')], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const gone = new Promise((resolve) => child.once('close', resolve))
  const put = () => {
    for (let i = 0; i < 5; i++) child.stdin.write(`${lines.text()}\n`)
  }
  put()
  while (statSync(join(folder, 'core.log')).size === 0) await sleep(20)
  // Ten rotations: the fifth is the first one that deletes the oldest file and moves the others.
  while (lines.count < 1000) {
    put()
    await lines.pace()
    await sleep(30)
  }
  child.stdin.end()
  await gone
}

describe.skipIf(missing)(
  `Log4j 2 with rising numbers${missing ? ` (${missing})` : ''}`,
  { timeout: 120_000, retry: WHEN_TOLD },
  () => {
    it.each(['', '.gz'])(
      'is followed over its rotations, and is one log, its rotated files ending in %j',
      async (ending) => {
        const results = await watched({
          folder,
          file: () => 'core.log',
          write: (lines) => write(lines, ending),
        })
        expectAll(results)
        expect(readdirSync(folder).sort()).toEqual(
          ['core.log', ...[1, 2, 3, 4].map((n) => `core-${n}.log${ending}`)].sort(),
        )
        const app = createApp({ logs: fsStore(folder), config: '' })
        const response = await app.request('/api/v1/log/view?file=core.log&rotated=true&size=10000000')
        const numbers = numbersOf(await response.text())
        expect(numbers.at(-1)).toBe(999)
        expect(numbers).toEqual(Array.from(numbers, (_, i) => numbers[0]! + i))
        expect(numbers.length).toBeGreaterThan(300)
      },
    )
  },
)
