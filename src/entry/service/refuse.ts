import { type Loaded, SettingsError } from '../../settings.ts'

/** For runtimes without worker processes. Throws a SettingsError if some are requested. */
export function refuseWorkers({ settings }: Loaded, runtime: string): void {
  if ((settings.workers ?? 1) === 1) return
  throw new SettingsError(
    'usage',
    `Cannot use --workers on ${runtime}: only on Node can processes share a port; leave it out.`,
  )
}
