import type { Flag } from '../../kit/usage.ts'

/** A terminal command and its flags; help and completions are generated from it. */
export interface CommandInfo {
  name: string
  usage: string
  summary: string
  flags: readonly Flag[]
  examples: readonly string[]
}

const CONNECTION: Flag[] = [
  { name: 'url', value: 'URL', list: true, help: 'A node; repeat it for several nodes. Also NODESTATE_URL.' },
  { name: 'token-file', value: 'FILE', help: 'A file with the token. Also NODESTATE_TOKEN.' },
]

const NODE: Flag = {
  name: 'node',
  value: 'ID',
  list: true,
  help: 'Nodes of a fleet, by id or pattern such as db-*; the URL is that of the fleet.',
}

const COLOR: Flag = {
  name: 'color',
  value: 'WHEN',
  choices: ['always', 'auto', 'never'],
  bare: 'always',
  help: 'Color the output; auto (the default) colors a terminal unless NO_COLOR is set.',
}

const OUTPUT: Flag[] = [
  { name: 'json', help: 'Print records as JSON, one per line.' },
  {
    name: 'time',
    value: 'ZONE',
    choices: ['log', 'local', 'utc'],
    help: 'Show times as in the log (the default), in your zone or in UTC.',
  },
  COLOR,
]

/** Which records. */
const FILTERS: Flag[] = [
  { name: 'level', value: 'LEVEL', help: 'Records of this level and above; =warn,fatal for exactly these.' },
  { name: 'since', value: 'TIME', help: 'Records at or after this time: 15m, 02:10, 2026-11-15T02:10:00Z.' },
  { name: 'until', value: 'TIME', help: 'Records before this time.' },
  { name: 'regex', value: 'RE', list: true, help: 'Records that match this pattern.' },
  { name: 'not', value: 'TEXT', list: true, help: 'Records without this text.' },
  { name: 'not-regex', value: 'RE', list: true, help: 'Records that do not match this pattern.' },
  {
    name: 'where',
    value: 'FIELD:VALUE',
    list: true,
    help: 'Records whose field has this value; !FIELD:VALUE, FIELD~GLOB and FIELD>NUMBER work, too.',
  },
  {
    name: 'pattern',
    value: 'TEXT',
    help: 'Records whose message has this pattern, <*> for words that vary.',
  },
  {
    name: 'encoding',
    value: 'NAME',
    choices: ['utf-8', 'latin1', 'utf-16le', 'utf-16be'],
    help: 'How the log is written, if it is not UTF-8.',
  },
  { name: 'rotated', help: 'Include rotated and compressed files.' },
]

/** What tail and grep have in common. */
const READING: Flag[] = [...FILTERS, ...OUTPUT, NODE, ...CONNECTION]

const GREP: Flag = { name: 'grep', value: 'TEXT', list: true, help: 'Records that contain this text.' }

/** What diff and incident have in common. */
const COMPARED: Flag[] = [
  GREP,
  ...FILTERS,
  { name: 'base-since', value: 'TIME', help: 'The start of the time to compare with; see --base-until.' },
  {
    name: 'base-until',
    value: 'TIME',
    help: 'Its end. By default the base is as long as the range, at least an hour, and directly before it.',
  },
  {
    name: 'base-node',
    value: 'ID',
    list: true,
    help: 'Compare with these nodes of the fleet in the same range, by id or pattern.',
  },
  NODE,
  ...CONNECTION,
]

/** The commands that talk to a node over HTTP. */
export const COMMANDS: readonly CommandInfo[] = [
  {
    name: 'tail',
    usage: 'nodestate tail [URL] FILE… [flags]',
    summary: 'Print the last lines of logs in order of time, and follow them.',
    flags: [
      { name: 'follow', short: 'f', help: 'Keep printing what is appended, through rotations and restarts.' },
      { name: 'lines', short: 'n', value: 'N', help: 'How many lines to print first (default: 10).' },
      GREP,
      ...READING,
    ],
    examples: [
      'nodestate tail http://db-4:9000 broker.log -f -n 50 --level warn',
      'nodestate tail broker.log --since 15m --grep timeout --not heartbeat --where shard:17 --json',
      'nodestate tail broker.log storage.log --since 02:41 --until 02:42',
      "nodestate tail http://fleet:9000 '*.log' --node 'db-*' -f",
    ],
  },
  {
    name: 'grep',
    usage: 'nodestate grep [TEXT] [URL] [FILE…] [flags]',
    summary: 'Search whole logs, or all of them, oldest records first.',
    flags: [
      { name: 'extended-regexp', short: 'E', help: 'TEXT is a pattern.' },
      { name: 'invert-match', short: 'v', help: 'Print the records that do not match.' },
      { name: 'count', short: 'c', help: 'Print only the number of matching records.' },
      { name: 'files-with-matches', short: 'l', help: 'Print only the names of files with a match.' },
      {
        name: 'context',
        short: 'C',
        value: 'N',
        help: 'Also print the N records before and after each match.',
      },
      { name: 'max-count', short: 'm', value: 'N', help: 'Stop after N matching records in each file.' },
      { name: 'grep', value: 'TEXT', list: true, help: 'Records that also contain this text.' },
      ...READING,
    ],
    examples: [
      'nodestate grep timeout http://db-4:9000 broker.log --rotated',
      "nodestate grep -E 'shard (17|18)' broker.log --since 02:10 --until 02:15",
      "nodestate grep broker.log --where 'duration>1s'",
    ],
  },
  {
    name: 'diff',
    usage: 'nodestate diff [URL] [FILE…] --since TIME [flags]',
    summary: 'Print what sets a range of time apart from the time before it, or nodes from other nodes.',
    flags: [{ name: 'json', help: 'Print the answer as JSON.' }, { ...OUTPUT[1]! }, COLOR, ...COMPARED],
    examples: [
      'nodestate diff http://db-4:9000 broker.log --since 02:10 --until 02:40',
      "nodestate diff http://fleet:9000 '*.log' --since 1h --node db-7 --base-node '*'",
    ],
  },
  {
    name: 'incident',
    usage: 'nodestate incident [URL] [FILE…] --since TIME [flags] > incident.html',
    summary: 'Write a range of time as one HTML file to hand over: chart, findings, errors, settings.',
    flags: COMPARED,
    examples: ['nodestate incident http://db-4:9000 broker.log --since 02:10 --until 02:40 > incident.html'],
  },
  {
    name: 'ls',
    usage: 'nodestate ls [URL] [flags]',
    summary: 'List the log files with their sizes and times, or the nodes of a fleet.',
    flags: [
      { name: 'names', short: '1', help: 'Print names only, one per line.' },
      { name: 'json', help: 'Print the list as JSON.' },
      { ...OUTPUT[1]! },
      COLOR,
      NODE,
      ...CONNECTION,
    ],
    examples: ['nodestate ls http://db-4:9000', "nodestate ls http://fleet:9000 --node 'db-*'"],
  },
  {
    name: 'config',
    usage: 'nodestate config [URL] [flags]',
    summary: "Print the node's configuration, secrets masked, or what changed in it.",
    flags: [
      {
        name: 'at',
        value: 'TIME',
        help: 'The version that held at this time: 15m, 02:10, 2026-11-15T02:10:00Z.',
      },
      {
        name: 'blame',
        help: 'List the settings with when each last changed, and the errors per hour around that.',
      },
      { name: 'history', help: 'List the versions, newest first, with what changed in each.' },
      {
        name: 'compare',
        value: 'PATTERN',
        list: true,
        help: 'Compare these nodes of a fleet; the exit code is 1 if there are unexpected differences.',
      },
      { ...NODE, help: 'Of these nodes of a fleet, by id or pattern such as db-*.' },
      { name: 'json', help: 'Print the whole answer as JSON, with the node object.' },
      { ...OUTPUT[1]!, help: 'Show times in UTC (the default) or in your zone.', choices: ['local', 'utc'] },
      COLOR,
      ...CONNECTION,
    ],
    examples: [
      'nodestate config http://db-4:9000 --at 02:10',
      'nodestate config http://fleet:9000 --node db-7 --history',
      "nodestate config http://fleet:9000 --compare 'db-*'",
    ],
  },
  {
    name: 'mcp',
    usage: 'nodestate mcp [URL] [flags]',
    summary: 'Give an assistant tools that read a node or a fleet, on standard input and output (MCP).',
    flags: CONNECTION,
    examples: ['nodestate mcp http://db-4:9000 --token-file token'],
  },
  {
    name: 'completion',
    usage: 'nodestate completion bash|zsh|fish',
    summary: 'Print a completion script for your shell.',
    flags: [],
    examples: ['source <(nodestate completion bash)'],
  },
]
