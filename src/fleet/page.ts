import { textTag } from '../http/conditional.ts'

/** The page of a fleet: its nodes, silent ones first, filtered while you type. It holds nothing itself. */
const SCRIPT = `const $ = (id) => document.getElementById(id)
let nodes = []
const cell = (row, text) => { row.insertCell().textContent = text ?? '' }
const ago = (s) => s === null ? 'never' : s < 90 ? s + ' s' : s < 5400 ? Math.round(s / 60) + ' min' : Math.round(s / 3600) + ' h'
const bytes = (n) => n === null ? '' : n < 1024 ? n + ' B' : n < 1048576 ? (n / 1024).toFixed(1) + ' KiB' : (n / 1048576).toFixed(1) + ' MiB'
function show() {
  const words = $('filter').value.toLowerCase().split(/\\s+/).filter(Boolean)
  const body = $('nodes')
  body.replaceChildren()
  let shown = 0
  for (const { id, node, age, lag, error } of nodes) {
    const address = node ? node.hostIp + ':' + node.httpPort : ''
    const text = [id, node?.hostName, address, node?.version].join(' ').toLowerCase()
    if (!words.every((word) => text.includes(word))) continue
    shown++
    const row = body.insertRow()
    if (error || age === null || age > 150) row.className = 'silent'
    const link = document.createElement('a')
    link.href = base + 'nodes/' + encodeURIComponent(id) + '/'
    link.textContent = id
    row.insertCell().append(link)
    cell(row, address)
    cell(row, node?.version)
    cell(row, error ?? ago(age))
    cell(row, bytes(lag))
  }
  $('status').textContent = shown + ' of ' + nodes.length + ' nodes'
}
const base = document.querySelector('main').dataset.base
async function load() {
  const token = sessionStorage.getItem('nodestate-token')
  const headers = token ? { Authorization: 'Bearer ' + token } : {}
  const all = []
  for (let query = '?limit=1000'; query; ) {
    const answer = await fetch(base + 'api/v1/nodes' + query, { headers })
    if (answer.status === 401) { $('signin').hidden = false; $('status').textContent = 'This fleet needs a token.'; return }
    if (!answer.ok) { $('status').textContent = (await answer.json()).detail; return }
    all.push(...await answer.json())
    query = /<([^>]+)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
  }
  $('signin').hidden = true
  const silence = ({ age, error }) => error || age === null ? Infinity : age > 150 ? age : 0
  nodes = all.sort((a, b) => (silence(b) > silence(a)) - (silence(b) < silence(a)) || (a.id < b.id ? -1 : 1))
  show()
}
$('filter').addEventListener('input', show)
$('signin').addEventListener('submit', (event) => {
  event.preventDefault()
  sessionStorage.setItem('nodestate-token', $('token').value)
  load()
})
load()
setInterval(() => document.hidden || load(), 10000)
`

const STYLE = `:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}body{margin:0 auto;max-width:70rem;padding:1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884}
input{font:inherit;padding:.3rem .5rem;width:20rem;max-width:100%}.silent td{color:#b45309}td{font-variant-numeric:tabular-nums}
@media(prefers-color-scheme:dark){.silent td{color:#fbbf24}}
`

const ASSETS: Record<string, { type: string; text: string }> = {
  [nameOf('js', SCRIPT)]: { type: 'text/javascript; charset=utf-8', text: SCRIPT },
  [nameOf('css', STYLE)]: { type: 'text/css; charset=utf-8', text: STYLE },
}

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

/** The page. `base` is where the fleet is mounted, seen from the page. */
export function fleetPage(base: string): Response {
  const [script, style] = [nameOf('js', SCRIPT), nameOf('css', STYLE)]
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Nodes</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}assets/${style}"><script type="module" src="${base}assets/${script}"></script></head>
<body><main data-base="${base}"><h1>Nodes</h1>
<form id="signin" hidden><label>Token <input id="token" type="password" autocomplete="off"></label> <button>Sign in</button></form>
<p><input id="filter" type="search" placeholder="Filter" aria-label="Filter nodes" autofocus> <span id="status" role="status"></span></p>
<table><thead><tr><th>Name</th><th>Address</th><th>Version</th><th>Age</th><th>Lag</th></tr></thead><tbody id="nodes"></tbody></table>
</main></body></html>
`
  const headers = {
    ...HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'private, no-cache',
  }
  return new Response(html, { headers })
}

/** A file of the page; null when there is none of that name. */
export function fleetAsset(name: string): Response | null {
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name]! : null
  if (!asset) return null
  const headers = {
    ...HEADERS,
    'Content-Type': asset.type,
    'Cache-Control': 'public, max-age=31536000, immutable',
  }
  return new Response(asset.text, { headers })
}

function nameOf(kind: string, text: string): string {
  return `fleet-${textTag(text).replace(/[^\w]/g, '')}.${kind}`
}
