import { describe, expect, it } from 'vitest'
import { mergeMetrics, remainsOf } from '../../src/observe/merge.ts'
import { createRegistry, textOf } from '../../src/observe/registry.ts'

function registry(requests: Record<string, number>, seconds: number[], memory: number) {
  const made = createRegistry()
  const counter = made.counter('requests', 'Requests.')
  for (const [route, count] of Object.entries(requests)) counter.add(count, { route })
  const histogram = made.histogram('seconds', 'Seconds.', [0.5, 1])
  for (const value of seconds) histogram.observe(value, { route: '/' })
  made.gauge('build', 'Build.', () => [{ value: 1, labels: { version: '1' } }], 'max')
  made.gauge('in_flight', 'In flight.', () => 1)
  made.gauge('memory', 'Memory.', () => memory, 'each')
  made.gauge('delay', 'Delay.', () => [{ value: memory / 10, labels: { percentile: '99' } }], 'each')
  return made
}
const one = registry({ '/a': 2, '/b': 1 }, [0.25, 0.75], 100)
const two = registry({ '/a': 3, '/c': 5 }, [0.25, 4], 200)

describe('the metrics of several processes', () => {
  it('are summed, or kept apart by process, or one for all', () => {
    const merged = mergeMetrics([
      { process: 'worker-1', families: one.families() },
      { process: 'worker-2', families: two.families() },
    ])
    const lines = textOf(merged, 'prometheus')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines).toEqual([
      'requests_total{route="/a"} 5',
      'requests_total{route="/b"} 1',
      'requests_total{route="/c"} 5',
      'seconds_bucket{route="/",le="0.5"} 2',
      'seconds_bucket{route="/",le="1.0"} 3',
      'seconds_bucket{route="/",le="+Inf"} 4',
      'seconds_sum{route="/"} 5.25',
      'seconds_count{route="/"} 4',
      'build{version="1"} 1',
      'in_flight 2',
      'memory{process="worker-1"} 100',
      'memory{process="worker-2"} 200',
      'delay{process="worker-1",percentile="99"} 10',
      'delay{process="worker-2",percentile="99"} 20',
    ])
  })

  it('are those of the process itself where there is only one', () => {
    const alone = mergeMetrics([{ process: 'x', families: one.families() }])
    const own = one.families().filter(({ across }) => across !== 'each')
    expect(alone.filter(({ across }) => across !== 'each')).toEqual(own)
  })

  it('outlive a process as counts', () => {
    expect(remainsOf(one.families()).map(({ name }) => name)).toEqual(['requests', 'seconds'])
  })

  it('survive the way from one process to another', () => {
    expect(JSON.parse(JSON.stringify(two.families()))).toEqual(two.families())
  })
})
