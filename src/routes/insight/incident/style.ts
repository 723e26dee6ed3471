/** The style of a document, which is all that it brings along. */
export const STYLE = `
:root{color-scheme:light dark;--page:#fff;--text:#1c2127;--line:#d5d9df;--soft:#5c6570;--fatal:#8b1a6b;--error:#c62828;--warn:#8a5200;--info:#4a7ab5;--debug:#8a949e;--other:#8a949e;--range:#f3ecd2}
@media(prefers-color-scheme:dark){:root{--page:#15181c;--text:#dfe3e8;--link:#8ab4f8;--line:#3a4149;--soft:#9aa4af;--fatal:#e07cc4;--error:#ff7b72;--warn:#e3a23c;--info:#79a8e0;--debug:#7c8792;--other:#7c8792;--range:#3a3520}}
body{background:var(--page);color:var(--text);font:14px/1.45 system-ui,sans-serif;margin:1.5rem auto;max-width:110rem;padding:0 1.5rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}th{color:var(--soft);font-weight:normal;text-align:left}
td,th{border-bottom:1px solid var(--line);padding:.2rem .5rem;vertical-align:top;overflow-wrap:anywhere}
.k,th,.records td:nth-child(2){white-space:nowrap}.n{white-space:nowrap;text-align:right;font-variant-numeric:tabular-nums}small,footer{color:var(--soft)}
.records{font:12px/1.4 ui-monospace,monospace}.records td:first-child{white-space:nowrap}.records td:last-child{white-space:pre-wrap;width:70%}
td.fatal{color:var(--fatal)}td.error{color:var(--error)}td.warn{color:var(--warn)}
svg{width:100%;height:auto}svg text{font-size:11px;fill:var(--soft)}
rect.range{fill:var(--range)}line.change{stroke:currentColor;stroke-dasharray:3 3}
rect.fatal{fill:var(--fatal)}rect.error{fill:var(--error)}rect.warn{fill:var(--warn)}rect.info{fill:var(--info)}rect.debug{fill:var(--debug)}rect.other{fill:var(--other)}
a{color:var(--link,#0b57d0)}.lacks{color:var(--warn)}ins{text-decoration:none}footer{margin:2rem 0}
`
