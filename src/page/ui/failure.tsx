import { ProblemError, UnreachableError } from '../../client.ts'

/** What went wrong and what the reader can do about it. */
export function Failure({ error, retry, what }: { error: Error; retry?: () => void; what?: string }) {
  const { title, advice } = explain(error)
  return (
    <div class="failure" role="alert">
      <p class="title">{what === undefined ? title : `${what}: ${lower(title)}`}</p>
      <p>{advice}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Problems in the words of this page: the API's sentences mention parameters, which users of the page never type. */
const TEXTS: Record<string, [title: string, advice: string]> = {
  'bad-parameter': ['This filter does not work here', 'Change the filters or clear them.'],
  'no-time': [
    'This log has no times',
    'A time range needs lines that say when they were written. Clear it to see them all.',
  ],
  'no-level': [
    'This log has no levels',
    'Its lines have no levels, so filtering by level does not work. Clear the level to see them.',
  ],
  'unknown-file': [
    'No such log file',
    'It may have been deleted or renamed. Pick another log from the list.',
  ],
  'cursor-gone': [
    'These lines are gone',
    'The file was truncated or deleted. Reload to see what is there now.',
  ],
  'bad-cursor': ['This link does not fit this log', 'Open the log from the list instead.'],
  'archive-budget': ['This archive is too large to show', 'Download it and open it on your own machine.'],
  'bad-archive': ['This archive cannot be read', 'It is damaged or incomplete. You can still download it.'],
  'not-viewable': [
    'This file cannot be shown as text',
    'It is an unsupported kind of archive, or not text at all. You can still download it.',
  ],
}

export function explain(error: Error): { title: string; advice: string } {
  if (error instanceof ProblemError) {
    const [title, advice] = TEXTS[error.code] ?? [error.title, error.message]
    return { title, advice }
  }
  if (error instanceof UnreachableError) return { title: 'The node does not answer', advice: error.message }
  return {
    title: 'Something went wrong in this page',
    advice: `${error.message} Reload the page to start over.`,
  }
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
