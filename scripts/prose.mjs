// What a writer may want to look at again: npm run prose [FILE…]
//
// Long sentences, long pages, and words that the project says otherwise. It suggests; nothing fails because of it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const MOST_WORDS = 30
const LONGEST_PAGE = 2500
/** Words and turns for which there is a plainer one. */
const WORDS = [
  [/\bso many\b/i, 'a number, or "at most N"'],
  [/\bno valid\b/i, 'what is wrong, and what to do'],
  [/\btells that\b/i, 'says that'],
  [/\bwho asks\b|\bwhoever\b/i, 'the client'],
  [/\blets go\b/i, 'releases'],
  [/\bof its own\b/i, 'its own …'],
  [/, for (?:it|they|he|she|that|this)\b/i, 'because'],
]

const documents = process.argv.slice(2)
if (documents.length === 0)
  documents.push(
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'deploy/README.md', 'examples/README.md'],
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
      .map((name) => join('docs', name))
      .sort(),
  )

let found = 0
for (const path of documents) {
  const text = readFileSync(path, 'utf8')
  const say = (what) => {
    found++
    console.log(`${path}: ${what}`)
  }
  const words = wordsOf(text)
  if (words > LONGEST_PAGE) say(`${words} words, more than ${LONGEST_PAGE}`)
  for (const sentence of sentencesOf(text)) {
    const count = wordsOf(sentence)
    if (count >= MOST_WORDS) say(`${count} words: ${sentence}`)
    for (const [pattern, plain] of WORDS)
      if (pattern.test(sentence)) say(`"${pattern.exec(sentence)[0]}", rather: ${plain}: ${sentence}`)
  }
}
console.log(found === 0 ? 'Nothing to look at.' : `${found} places to look at.`)

/** The sentences of a page: of paragraphs, lists and cells, without code. */
function sentencesOf(text) {
  return (
    text
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .split('\n')
      .filter((line) => !/^( {4}|#|!\[|\|[-|]+$)/.test(line))
      // A cell may be a list of bounds.
      .flatMap((line) => (line.startsWith('|') ? line.split(/(?<!\\)\||; /) : [line]))
      .map((cell) => cell.replaceAll(/`[^`]*`/g, 'code').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
      .flatMap((cell) => cell.split(/(?<=[.?!])\s+| · /))
      .map((sentence) => sentence.trim())
  )
}

function wordsOf(text) {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}
