import { ProblemError, UnreachableError } from '../../client.ts'
import { Button } from './controls.tsx'

export type Remedy = 'retry' | 'pattern' | 'filters' | 'range' | 'level'

const LABELS: Record<Remedy, string> = {
  retry: 'Try again',
  pattern: 'Edit the pattern',
  filters: 'Clear all filters',
  range: 'Show all time',
  level: 'Show all levels',
}

interface Props {
  error: Error
  /** What the page can do here; only what helps against this error is offered. */
  remedies?: Partial<Record<Remedy, () => void>>
}

/** What went wrong, and the one thing that can help. */
export function Failure({ error, remedies = {} }: Props) {
  const { title, advice, remedy } = explain(error)
  const act = remedy && remedies[remedy]
  return (
    <div class="failure" role="alert">
      <p class="title">{title}</p>
      <p>{advice}</p>
      {act !== undefined && <Button onClick={act}>{LABELS[remedy!]}</Button>}
    </div>
  )
}

type Text = [title: string, advice: string, remedy?: Remedy | undefined]

/** Problems in the words of this page: the API's sentences mention parameters, which users of the page never type. */
const TEXTS: Record<string, Text> = {
  'bad-parameter': ['This filter does not work here', 'Change the filters or clear them.', 'filters'],
  'no-time': [
    'This log has no times',
    'Its lines do not say when they were written, so a time range does not work.',
    'range',
  ],
  'no-level': [
    'This log has no levels',
    'Its lines do not say how severe they are, so filtering by level does not work.',
    'level',
  ],
  forbidden: ['Your token does not allow this', 'Ask the person who runs the node for one that does.'],
  'unknown-node': [
    'No such node',
    'Nothing was shipped under this name. Pick a node from the list of all nodes.',
  ],
  'unknown-file': [
    'No such log file',
    'It may have been deleted or renamed. Pick another log from the list.',
  ],
  'cursor-gone': ['These lines are gone', 'The file was truncated or deleted.', 'retry'],
  'bad-cursor': ['This link does not fit this log', 'Open the log from the list instead.'],
  'archive-budget': ['This archive is too large to show', 'Download it instead.'],
  'bad-archive': ['This archive cannot be read', 'It is damaged or incomplete. Download it instead.'],
  'not-viewable': [
    'This file cannot be shown as text',
    'It is an unsupported archive, or not text at all. Download it instead.',
  ],
  'storage-unavailable': [
    'The storage does not answer',
    'Check that the log directory or bucket exists and that nodestate can reach it.',
    'retry',
  ],
  'storage-denied': [
    'The storage denies access',
    'nodestate lacks the permission to read it, or its credentials are wrong.',
    'retry',
  ],
  'storage-timeout': ['The storage took too long', 'It may be overloaded or far away.', 'retry'],
  'storage-throttled': ['The storage is throttling requests', 'Wait a little.', 'retry'],
  'too-many-sources': [
    'That is more than can be read at once',
    'Choose some of the logs or nodes in the list.',
  ],
  'missing-object': [
    'This node has not shipped its configuration',
    'Its logs may still be readable.',
    'retry',
  ],
}

/** The code of a problem in a few words: `no such log file`. */
export function reasonText(code: string): string {
  const [title] = TEXTS[code] ?? [code.replaceAll('-', ' ')]
  return title.charAt(0).toLowerCase() + title.slice(1)
}

export function explain(error: Error): { title: string; advice: string; remedy: Remedy | undefined } {
  const [title, advice, remedy] = textOf(error)
  return { title, advice, remedy }
}

function textOf(error: Error): Text {
  if (error instanceof UnreachableError)
    return ['The node does not answer', 'Check that it is running and can be reached from here.', 'retry']
  if (!(error instanceof ProblemError))
    return ['Something went wrong in this page', `${error.message} Reload the page to start over.`]
  const { code, title, message, status } = error
  // The detail says what is wrong with the pattern; its first words are the title once more.
  if (code === 'bad-pattern') return [title, capital(message.replace(/^[^:]*: /, '')), 'pattern']
  return TEXTS[code] ?? [title, message, status >= 500 && status !== 501 ? 'retry' : undefined]
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
