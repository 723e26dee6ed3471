import { networkInterfaces } from 'node:os'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { describeNode, parseNode, pickAddress } from '../../../src/core/node/identity.ts'
import type { NodeInfo } from '../../../src/kit/answers.ts'

const FACTS = {
  hostIp: '10.0.0.5',
  hostName: 'db1',
  port: 9000,
  version: '1.2.3',
  onlineTime: 1_700_000_000_000,
}

describe('describeNode', () => {
  it('has exactly the six fields, in order', () => {
    expect(JSON.stringify(describeNode({}, FACTS, {}))).toBe(
      '{"hostIp":"10.0.0.5","hostName":"db1","grpcPort":0,"httpPort":9000,"version":"1.2.3","onlineTime":1700000000000}',
    )
  })

  it('has defaults for what the system does not tell', () => {
    expect(describeNode({}, { version: 'v', onlineTime: 1 }, {})).toEqual({
      hostIp: '127.0.0.1',
      hostName: 'localhost',
      grpcPort: 0,
      httpPort: 0,
      version: 'v',
      onlineTime: 1,
    })
  })

  it('takes each field as it is set, zero included, and no other', () => {
    const set: NodeInfo = {
      onlineTime: 0,
      version: '',
      httpPort: 0,
      grpcPort: 0,
      hostName: 'x',
      hostIp: '::1',
    }
    const config = parse('[http]\nport = 1\n[grpc]\nport = 2')
    expect(describeNode(set, FACTS, config)).toEqual(set)
    expect(Object.keys(describeNode({ ...set, extra: 1 } as Partial<NodeInfo>, FACTS, config))).toHaveLength(
      6,
    )
  })

  it.each([
    ['[http]\nport = 9001\n[grpc]\nport = 9002', 9001, 9002],
    ['[broker.grpc]\nport = 9002', 9000, 9002],
    ['broker.http.port = 9001', 9001, 0],
    ['broker = { http = { port = 9001 }, grpc.port = 9002 }', 9001, 9002],
    ['[[nodes]]\nname = "a"\n[nodes.http]\nport = 9001', 9001, 0],
    ['[[nodes]]\nname = "a"\n[[nodes]]\n[nodes.grpc]\nport = 9002', 9000, 9002],
    ['[[http]]\nname = "x"\n[[http]]\nport = 9001', 9001, 0],
    ['[a.b.http]\nport = 1\n[c.http]\nport = 2', 2, 0],
    ['[a.http]\nport = 1\n[b.http]\nport = 2', 1, 0],
    ['[a.http]\nhost = "x"\n[b.http]\nport = 2', 2, 0],
    ['[a.http]\nport = 70000\n[b.http]\nport = -1\n[c.http]\nport = 3', 3, 0],
    ['[http]\nport = "9001"', 9001, 0],
    ['[http]\nport = ":9001"', 9000, 0],
    ['[http]\nport = 0', 0, 0],
    ['[http]\nport = 80.5\n[grpc]\nport = true', 9000, 0],
    ['http = 9001\ngrpc = ["port"]', 9000, 0],
    ['http-port = 1\n"http.port" = 2', 9000, 0],
    ['at = 2024-01-02\na = [[{ http = { port = 5 } }]]', 5, 0],
    [`${'a.'.repeat(20_000)}http.port = 7`, 7, 0],
  ])('finds the ports in %j', (toml, httpPort, grpcPort) => {
    expect(describeNode({}, FACTS, parse(toml))).toMatchObject({ httpPort, grpcPort })
  })

  it('does not take ports from the prototype', () => {
    expect(describeNode({}, FACTS, Object.create({ http: { port: 5 } })).httpPort).toBe(9000)
  })
})

describe('parseNode', () => {
  const node = describeNode({}, FACTS, {})

  it('reads what was written, and drops what is not a field', () => {
    expect(parseNode(JSON.stringify(node))).toEqual(node)
    expect(JSON.stringify(parseNode(JSON.stringify({ secret: 'hunter2', ...node })))).toBe(
      JSON.stringify(node),
    )
    expect(parseNode(`\ufeff${JSON.stringify(node)}`)).toEqual(node)
  })

  it.each([
    ['hunter2', /it is not valid JSON\.$/],
    ['', /it is not valid JSON\.$/],
    ['["hunter2"]', /it is not a JSON object\.$/],
    ['null', /it is not a JSON object\.$/],
    [JSON.stringify({ ...node, hostIp: 'hunter2', hostName: 5 }), /"hostName" must be a string\.$/],
    [JSON.stringify({ ...node, grpcPort: 'hunter2' }), /"grpcPort" must be an integer from 0 to 65535\.$/],
    [JSON.stringify({ ...node, httpPort: 65_536 }), /"httpPort" must be/],
    [JSON.stringify({ ...node, onlineTime: 1.5 }), /"onlineTime" must be/],
    [JSON.stringify({ ...node, onlineTime: 2 ** 53 }), /"onlineTime" must be/],
    [JSON.stringify({ ...node, version: undefined }), /"version" must be a string\.$/],
  ])('refuses %j without showing it', (json, message) => {
    let thrown: unknown
    try {
      parseNode(json)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(Error)
    const error = thrown as Error
    expect(error.message).toMatch(message)
    expect(error.cause).toBeUndefined()
    expect(`${error.stack}`).not.toContain('hunter2')
  })
})

describe('pickAddress', () => {
  const at = (address: string, family: string | number = 'IPv4', internal = false) => ({
    address,
    family,
    internal,
  })

  it.each([
    [{}, null],
    [{ lo: [at('127.0.0.1', 'IPv4', true), at('::1', 'IPv6', true)] }, null],
    [{ lo: [at('127.0.0.1', 'IPv4', true)], eth0: [at('10.0.0.5')], eth1: [at('10.0.0.6')] }, '10.0.0.5'],
    [{ eth0: [at('2001:db8::1', 'IPv6'), at('10.0.0.5')] }, '10.0.0.5'],
    [{ eth0: [at('fe80::1', 'IPv6'), at('2001:db8::1', 'IPv6')] }, '2001:db8::1'],
    [{ eth0: [at('169.254.1.1')], eth1: [at('2001:db8::1', 6)] }, '2001:db8::1'],
    [{ eth0: [at('fe80::1', 'IPv6'), at('169.254.1.1')] }, '169.254.1.1'],
    [{ eth0: [at('fe80::1', 'IPv6')] }, 'fe80::1'],
    [{ eth0: undefined, eth1: [at('10.0.0.6', 4)] }, '10.0.0.6'],
  ])('%j → %s', (interfaces, address) => {
    expect(pickAddress(interfaces)).toBe(address)
  })

  it('takes what the system returns', () => {
    const found = pickAddress(networkInterfaces())
    const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    expect(found === null || all.some(({ address, internal }) => address === found && !internal)).toBe(true)
  })
})
