import type { ProcessFacts } from '../runtime/runtime.ts'
import type { Registry } from './registry.ts'

/** Adds the metrics of a process under the names that Prometheus's own clients use. */
export function processMetrics(registry: Registry, facts: ProcessFacts): void {
  const { gauge, counted } = registry
  const cpu = 'Seconds of CPU time that the process used.'
  gauge('process_start_time_seconds', 'When the process started, in Unix seconds.', () => facts.started)
  counted('process_cpu_seconds', cpu, facts.cpuSeconds)
  gauge('process_resident_memory_bytes', 'Bytes of physical memory in use.', facts.residentBytes)
  gauge('process_open_fds', 'Open file descriptors.', facts.openDescriptors)
  gauge('process_max_fds', 'Most file descriptors that may be open.', facts.maxDescriptors)
  gauge('nodestate_event_loop_delay_seconds', 'How late the event loop was since the last scrape.', () => {
    const delays = facts.eventLoopDelay()
    return (
      delays?.map(({ percentile, seconds }) => ({
        value: seconds,
        labels: { percentile: String(percentile) },
      })) ?? null
    )
  })
}
