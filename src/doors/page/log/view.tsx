import { ChangeNote } from '../config/marks.tsx'
import { later } from '../ui/later.tsx'
import { Bar } from './bar.tsx'
import { HistogramView } from './chart/histogram.tsx'
import { Chips } from './find/chips.tsx'
import { Finder } from './find/finder.tsx'
import { Menu } from './menu.tsx'
import { Stage } from './stage.tsx'
import { Status } from './status.tsx'
import { type LogProps, useLog } from './use-log.ts'

const Different = later(() => import('../parts.ts').then((parts) => parts.Different))
const Panel = later(() => import('../parts.ts').then((parts) => parts.Panel))

/** A log: find, chart, list. */
export function LogView(props: LogProps) {
  const log = useLog(props)
  const { acts, columns, look, preferences } = log
  const classes = [
    'log',
    preferences.wrap && 'wrap',
    log.unfolded && 'unfolded',
    ...columns.classes,
    !log.message && 'no-m',
  ]
  return (
    <section class={classes.filter(Boolean).join(' ')} aria-labelledby="log-title">
      <Bar log={log} />
      <Finder log={log} />
      <Chips log={log} />
      <HistogramView log={log} />
      {log.change !== null && <ChangeNote log={log} />}
      <div class="work">
        <Stage log={log} />
        {look.different !== '' ? (
          <Different log={log} />
        ) : (
          preferences.tab !== null && <Panel log={log} tab={preferences.tab} />
        )}
      </div>
      <Status log={log} />
      {acts.choice !== null && <Menu choice={acts.choice} close={() => acts.setChoice(null)} />}
    </section>
  )
}
