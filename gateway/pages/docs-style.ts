/** The documentation page's only style sheet: part of the page, so that it loads nothing from anywhere. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ink: #1c2128; --soft: #57606a; --line: #d8dee4; --paper: #ffffff; --band: #f6f8fa; --accent: #0a5bd3; --good: #116329; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b3; --line: #30363d; --paper: #0d1117; --band: #161b22; --accent: #6cb0ff; --good: #56d364; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--paper); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.88em; }
.page { display: grid; grid-template-columns: 21rem minmax(0, 1fr); max-width: 90rem; margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: 0.87rem; }
nav h2 { margin: 1.3rem 0 0.3rem; font-size: 0.75rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: 0.12rem 0; overflow-wrap: anywhere; }
main { padding: 2rem 2.5rem 5rem; min-width: 0; }
h1 { margin: 0; font-size: 1.9rem; }
h2.family { margin: 3.2rem 0 0; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); }
section { margin: 2.2rem 0; }
section h3 { margin: 0 0 0.3rem; font-size: 1.05rem; overflow-wrap: anywhere; }
.method { color: var(--good); font-weight: 700; margin-right: 0.5rem; }
.soft { color: var(--soft); }
.wide { overflow-x: auto; margin: 0.6rem 0 1rem; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
th, td { text-align: left; vertical-align: top; padding: 0.42rem 0.75rem; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { background: var(--band); font-weight: 600; white-space: nowrap; }
td:first-child { white-space: nowrap; }
td:first-child .tag { margin-left: 0.3rem; }
td.rule { overflow-wrap: anywhere; min-width: 9rem; }
td.text { min-width: 16rem; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.tag { display: inline-block; font-size: 0.75rem; padding: 0 0.45rem; border: 1px solid var(--line); border-radius: 1rem; color: var(--soft); }
.need { color: var(--accent); border-color: var(--accent); }
.try, #try-key { margin: 0.6rem 0 1rem; }
summary { cursor: pointer; color: var(--accent); }
.try[open] { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 8px; }
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 0.6rem 1rem; margin-top: 0.6rem; }
.try label span, #try-key label span { display: block; font-size: 0.8rem; color: var(--soft); }
input, select, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 0.3rem 0.6rem; }
.fields input, .fields select { width: 100%; }
#try-key input { width: 22rem; max-width: 100%; }
button { cursor: pointer; background: var(--band); margin-right: 0.6rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.try pre { max-height: 28rem; overflow: auto; white-space: pre; overflow-wrap: normal; }
@media (max-width: 60rem) {
  .page { display: block; }
  nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.5rem 1rem 4rem; }
}
`;
