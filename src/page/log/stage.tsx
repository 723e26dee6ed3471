import type { ComponentChildren, RefObject } from 'preact'
import type { ListedFile } from '../files/order.ts'
import { Failure } from '../ui/failure.tsx'
import { count } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { useSlow } from '../ui/store.ts'
import type { Look } from '../url.ts'
import { clickRow, copyRows, moveInDetails } from './clicks.ts'
import { isNarrowed } from './find/query.ts'
import { chosenText } from './menu.tsx'
import type { Reader } from './reader/reader.ts'
import { wall } from './record/record.ts'
import type { Acts } from './use-acts.ts'

interface Props {
  box: RefObject<HTMLElement | null>
  reader: RefObject<Reader | null>
  look: Look
  file: ListedFile | null
  acts: Acts
  retry: () => void
  clear: () => void
}

/** The records, and what is said over them: progress, a failure, that there are none, that there are new ones. */
export function Stage({ box, reader, look, file, acts, retry, clear }: Props) {
  const made = reader.current
  const loaded = made?.window
  const busy = loaded?.loading ?? null
  const slow = useSlow(busy !== null || (made?.searching ?? false))
  const none = loaded !== undefined && loaded.items.length === 0
  return (
    <div class="stage">
      {slow && (
        <div class="progress" role="progressbar" aria-label="Loading records">
          <span>{loaded?.scanned ? 'Searching more of the log…' : ''}</span>
        </div>
      )}
      <section
        ref={box}
        class="list"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by key
        tabIndex={0}
        aria-label={`Records of ${look.file}`}
        aria-busy={busy === 'open'}
        onClick={(event) => clickRow(event, reader.current, acts.rowActs)}
        onMouseUp={() =>
          setTimeout(() => box.current && acts.setChosen((now) => now ?? chosenText(box.current!)))
        }
        onKeyDown={moveInDetails}
        onCopy={(event) => copyRows(event, reader.current, box.current!)}
      />
      <div class="ring" aria-hidden="true" />
      {none && loaded.failure !== null && (
        <div class="over">
          <Failure error={loaded.failure} retry={retry} />
        </div>
      )}
      {none && loaded.failure === null && busy === null && (
        <Empty look={look} file={file}>
          <button type="button" onClick={clear}>
            Clear all filters
          </button>
        </Empty>
      )}
      {(made?.unseen ?? 0) > 0 && (
        <button type="button" class="unseen" onClick={() => void made!.end()}>
          <Icon name="down" /> {count(made!.unseen)} new {made!.unseen === 1 ? 'record' : 'records'}
        </button>
      )}
    </div>
  )
}

function Empty({
  look,
  file,
  children,
}: {
  look: Look
  file: ListedFile | null
  children: ComponentChildren
}) {
  const filtered = isNarrowed(look)
  return (
    <div class="over" role="status">
      <p class="title">{filtered ? 'No record matches' : 'This log is empty'}</p>
      <p>
        {filtered
          ? `Loosen or clear the filters.${extent(look, file)}`
          : 'Nothing has been written yet. Follow it to see the first line as it arrives.'}
      </p>
      {filtered && children}
    </div>
  )
}

/** Where the log's records are, for a time range that holds none. */
function extent({ since, until }: Look, file: ListedFile | null): string {
  if ((since === '' && until === '') || !file?.first || !file.last) return ''
  return ` This log has records from ${wall(file.first)} to ${wall(file.last)}.`
}
