import { type Loaded, SettingsError } from '../../settings.ts'

/** For the runtimes that have no workers. Throws a SettingsError when some are wanted. */
export function refuseWorkers({ settings }: Loaded, runtime: string): void {
  if ((settings.workers ?? 1) === 1) return
  throw new SettingsError(
    'usage',
    `Cannot use --workers on ${runtime}: only on Node can processes share a port; leave it out.`,
  )
}
