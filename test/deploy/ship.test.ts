import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readArguments } from '../../src/entry/process/arguments.ts'
import { flagsOf } from '../../src/entry/settings/flags.ts'
import { loadShipSettings, SHIP_SETTINGS } from '../../src/entry/settings/ship.ts'

const read = (path: string) =>
  readFileSync(join(resolve(import.meta.dirname, '../../deploy/ship'), path), 'utf8')

const settingsOf = (argv: string[]) =>
  loadShipSettings(readArguments({ flags: flagsOf(SHIP_SETTINGS), help: '' }, argv), {})

describe('deploy/ship', () => {
  it('has a unit that starts the shipper with settings that it takes, and shows it the logs read-only', () => {
    const unit = read('nodestate-ship.service')
    const [, , command] = /^ExecStart=(\S+) ship (.*)$/m.exec(unit)!
    const settings = settingsOf(command!.replace('%H', 'db-4').split(' '))
    expect(settings).toMatchObject({ logs: '/var/log/lindb', target: 's3://logs/prod/db-4', once: false })
    expect(settings.metricsListen?.port).toBe(9101)
    expect(unit).toMatch(/^RestartPreventExitStatus=3$/m)
    expect(unit).toMatch(/^BindReadOnlyPaths=-\/var\/log\/lindb -\/etc\/lindb\/broker\.toml$/m)
    expect(unit).not.toMatch(/^(BindPaths|ReadWritePaths|StateDirectory)=/m)
  })

  it('has a sidecar that sees the logs read-only', () => {
    const { spec } = parse(read('sidecar.yaml'))
    const sidecar = spec.containers.find(({ name }: { name: string }) => name === 'nodestate-ship')
    const [command, ...args] = sidecar.args
    expect(command).toBe('ship')
    expect(settingsOf(args)).toMatchObject({ logs: '/logs', config: '/config/broker.toml' })
    expect(settingsOf(args).metricsListen?.port).toBe(9101)
    expect(sidecar.volumeMounts.every(({ readOnly }: { readOnly?: boolean }) => readOnly)).toBe(true)
  })

  it('has a policy that reads no log and deletes nothing', () => {
    const { Statement } = JSON.parse(read('policy.json')) as {
      Statement: { Action: string; Resource: unknown }[]
    }
    expect(Statement.map(({ Action }) => Action)).toEqual(['s3:ListBucket', 's3:PutObject', 's3:GetObject'])
    const readable = Statement[2]!.Resource as string[]
    expect(readable.every((name) => name.endsWith('/ship.json') || name.endsWith('/~'))).toBe(true)
  })
})
