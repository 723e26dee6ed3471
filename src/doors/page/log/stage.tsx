import { useRef, useState } from 'preact/hooks'
import { Button } from '../ui/controls.tsx'
import { Failure, type Remedy } from '../ui/failure.tsx'
import { count, counted } from '../ui/format.ts'
import { useListener } from '../ui/listener.ts'
import { useSlow } from '../ui/store.ts'
import { titleOf } from '../url.ts'
import { clickRow, copyRows } from './clicks.ts'
import { selectedText } from './menu.tsx'
import { Nothing } from './nothing.tsx'
import { columnsOf } from './record/rows.ts'
import type { Log } from './use-log.ts'

/** The records, and what is said over them: progress, a failure, that there are none, that there are new ones. */
export function Stage({ log }: { log: Log }) {
  const { box, reader, look, file, acts, gone } = log
  const remedies: Record<Remedy, () => void> = {
    retry: log.tryAgain,
    filters: () => acts.apply({ level: '', terms: [], since: '', until: '', all: false }),
    range: () => acts.apply({ since: '', until: '' }),
    level: () => acts.apply({ level: '' }),
    pattern: () => document.querySelector<HTMLElement>('.finder [data-find]')?.focus(),
  }
  const made = reader.current
  const loaded = made?.window
  const busy = loaded?.loading ?? null
  const slow = useSlow(busy !== null || (made?.searching ?? false))
  const [anyway, setAnyway] = useState(false)
  const binary = (file?.binary ?? false) && look.encoding === ''
  const none = loaded !== undefined && loaded.items.length === 0
  return (
    <div class="stage">
      {slow && (
        <div class="progress" role="progressbar" aria-label="Loading records">
          <span>{loaded?.scanned ? 'Searching more of the log…' : ''}</span>
        </div>
      )}
      {log.fields.length > 0 && made !== null && <Header log={log} />}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the log are heard on the whole page */}
      <section
        ref={box}
        id="records"
        class="list"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by key
        tabIndex={0}
        aria-label={`Records of ${titleOf(look)}`}
        aria-busy={busy === 'open'}
        onClick={(event) => clickRow(event, reader.current, acts)}
        onMouseUp={() =>
          setTimeout(() => {
            const found = box.current && acts.choice === null ? selectedText(box.current) : null
            if (found !== null) acts.openValue(found.value, found.at)
          })
        }
        onCopy={(event) => copyRows(event, reader.current, box.current!)}
      />
      <div class="ring" aria-hidden="true" />
      {gone !== null && !none && (
        <p class="gone" role="alert">
          {look.file} is gone: it was deleted or renamed. These are the lines that were loaded before.{' '}
          {gone.heir !== null && (
            <Button class="small" onClick={() => log.open(gone.heir!)}>
              Open {gone.heir}
            </Button>
          )}
        </p>
      )}
      {binary && !none && !anyway && (
        <div class="over cover" role="status">
          <p class="title">This file is not text</p>
          <p>It is a binary file. Download it to open it with a program that knows its format.</p>
          <Button
            class="primary"
            icon="save"
            onClick={() => document.querySelector<HTMLElement>('[data-download]')?.click()}
          >
            Download it
          </Button>
          <Button onClick={() => setAnyway(true)}>Show it as text anyway</Button>
        </div>
      )}
      {none && loaded.failure !== null && (
        <div class="over">
          <Failure error={loaded.failure} remedies={remedies} />
        </div>
      )}
      {none && loaded.failure === null && busy === null && <Nothing log={log} />}
      {made?.stopped != null && (
        <Button
          class={made.stopped < 0 ? 'unseen above' : 'unseen'}
          onClick={() => void made.goOn(made.stopped!)}
        >
          {count(loaded!.items.length)} records are loaded. Show the {made.stopped < 0 ? 'older' : 'newer'}{' '}
          ones
        </Button>
      )}
      {(made?.unseen ?? 0) > 0 && (
        <Button icon="down" class="unseen" onClick={() => void made!.end()}>
          {counted(made!.unseen, 'new record')}
        </Button>
      )}
    </div>
  )
}

/** The names above the columns, each of a field with a menu. It scrolls sideways with the list. */
function Header({ log }: { log: Log }) {
  const { box } = log
  const header = useRef<HTMLDivElement>(null)
  useListener(box, 'scroll', () => {
    if (header.current !== null) header.current.scrollLeft = box.current!.scrollLeft
  })
  return (
    <div ref={header} class="header">
      <div class="line">
        {log.sources !== null && <span class="o" />}
        <span class="fold" />
        {columnsOf(log.sources).map(({ name, title }) => (
          <span key={name} class={name}>
            {title}
          </span>
        ))}
        {log.made?.columns.fields.map(({ name, chars, numeric }) => (
          <span key={name} class={numeric ? 'x number' : 'x'} style={{ width: `${chars}ch` }}>
            <Button
              aria-haspopup="menu"
              aria-label={`Column ${name}`}
              title={name}
              onClick={(event) => log.acts.openField(name, event.currentTarget)}
            >
              {name}
            </Button>
          </span>
        ))}
        <span class="m">Message</span>
      </div>
    </div>
  )
}
