import type { ProblemCode } from './problem.ts'

/** When each problem occurs, as Markdown, for docs/api/errors.md and /openapi.json. Responses do not use it. */
export const MEANINGS: Record<ProblemCode, string> = {
  'bad-request': 'the request is not valid HTTP, arrives too slowly (408), or has headers over 16 KiB (431)',
  'bad-parameter': 'a parameter is missing, malformed, out of range or given twice',
  'bad-cursor': '`before`, `after` or `Last-Event-ID` is not a cursor, or belongs to another log',
  'bad-pattern': '`regex` is not a valid pattern',
  'too-many-sources':
    'the request names more logs than can be merged, or two whose names a cursor cannot tell apart; the detail says how many, and which nodes to name',
  'no-time': 'a filter by time, or a histogram, on a log whose lines have no times',
  'no-level': 'a filter by level on a log whose lines have no levels',
  unauthorized: 'the token in `Authorization: Bearer …`, or the client certificate, is missing or wrong',
  'foreign-origin':
    'a web page of another origin calls a tool at `/mcp`; the operator can allow it with `--cors-origin`',
  forbidden: 'the token is valid but lacks the scope for this resource',
  'unknown-file': 'the name is not in the list',
  'no-version': '`at` is before the first known version of the configuration',
  'unknown-path': 'there is nothing at this path',
  'unknown-node': 'a fleet has no node with this id',
  'method-not-allowed': 'the method is neither GET nor HEAD; at `/mcp`, it is not POST',
  'cursor-gone': 'the file that the cursor points into was truncated or deleted',
  'precondition-failed': 'a download with `If-Match`, but the file has changed',
  'not-viewable': 'a file is compressed with bzip2 or xz, or is a zip of several files; download it instead',
  'request-too-large': 'a message to `/mcp` has more than 64 KiB',
  'config-too-large':
    'the configuration, or its version at that time, has more than 1 MiB; read it on the node, or move data out of it',
  'archive-budget': 'an archive holds more text than the service will decompress; download it instead',
  'answer-too-large':
    'the answer is larger than the platform allows (Lambda), or a comparison has too many differences',
  'range-not-satisfiable': 'the range of a download is past the end of the file',
  'unknown-host': 'the operator allows only certain hosts, and this is not one of them',
  'too-many-failures':
    'too many sign-ins from this address failed in a short time; valid tokens are still answered; `Retry-After`',
  'bad-config': 'the configuration is not valid TOML, or the function that supplies it fails',
  'bad-object': '`node.json` of a home is not valid, or its `configs/` is full of other objects',
  internal: 'an error in nodestate; its log has the details',
  'not-included':
    'the service was made without what the parameter or path needs; the `detail` names the import or the flag',
  unsupported: 'the runtime cannot do this, such as zstd on an older Node or following on Lambda',
  'bad-archive': 'a compressed file is broken',
  'bad-segment': 'a shipped segment of a log is damaged',
  'missing-segment': 'a shipped segment of a log is missing',
  loop: 'a request that came from a coordinator asks for other nodes; ask for the logs of this node only',
  'storage-unavailable':
    'the log directory, the configuration file or the bucket is missing or does not answer',
  'storage-denied': 'the service is not allowed to read its data',
  'storage-throttled': 'the storage is throttling requests; `Retry-After`',
  'storage-timeout': 'the storage did not answer in time; `Retry-After`',
  'storage-changed': 'the file kept changing while it was being read; `Retry-After`',
  'too-busy': 'too many expensive requests at once; `Retry-After`',
  'missing-object': 'a home has no `node.json` or `config.toml`',
  'not-configured':
    'a worker or a Lambda lacks a setting, or the place of the logs is the home of a node or a fleet; the `detail` says what to set',
}
