/** For phones first; on wide screens the list of contents moves to the side. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ground: #ffffff; --raised: #f4f5f7; --ink: #1a1c21; --soft: #59606d;
  --line: #d9dce2; --link: #1d4fc4; --get: #1d4fc4; --post: #1a6d3b; --patch: #8a5300; --delete: #a51d2d; }
@media (prefers-color-scheme: dark) { :root { --ground: #15171b; --raised: #1f2228; --ink: #eceef2;
  --soft: #a5acb9; --line: #383d47; --link: #8fb2ff; --get: #8fb2ff; --post: #7fd6a2; --patch: #f0b95c;
  --delete: #ff8f9b; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
main, nav { padding: 1rem; min-width: 0; }
nav { background: var(--raised); border-bottom: 1px solid var(--line); font-size: .9375rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav > ul { columns: 2; }
nav li { break-inside: avoid; }
nav a { display: block; padding: .25rem 0; text-decoration: none; }
nav ul ul { display: none; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.375rem; line-height: 1.25; margin: 3rem 0 .5rem; padding-bottom: .25rem;
  border-bottom: 2px solid var(--line); }
h3 { font-size: 1.125rem; margin: 0 0 .25rem; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h4 { font-size: .875rem; text-transform: uppercase; letter-spacing: .04em; color: var(--soft); margin: 1.25rem 0 .25rem; }
p { margin: .25rem 0 .75rem; }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
  overflow-x: auto; margin: .5rem 0; }
pre code { overflow-wrap: normal; }
article { padding: 1.5rem 0; border-bottom: 1px solid var(--line); }
.soft, .limits, .type { color: var(--soft); }
.place { margin: .25rem 0; }
.method { display: inline-block; font-weight: 700; font-size: .8125rem; padding: 0 .4rem; border: 1px solid;
  border-radius: .3rem; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.fields, .answers { list-style: none; margin: .25rem 0; padding: 0; }
.fields > li, .answers > li { padding: .4rem 0; border-top: 1px solid var(--line); }
.fields p { margin: .1rem 0; }
.fields .fields { margin-left: .25rem; padding-left: .75rem; border-left: 2px solid var(--line); }
.name, .status { font-weight: 700; }
.type, .limits { font-size: .875rem; overflow-wrap: anywhere; }
.limits::before { content: "· "; }
.optional { font-size: .8125rem; font-style: italic; color: var(--soft); }
.required { font-size: .8125rem; font-weight: 600; color: var(--delete); }
details { margin: .25rem 0; }
summary { cursor: pointer; color: var(--link); padding: .25rem 0; }
.codes { display: grid; gap: 0; }
.codes > div { padding: .6rem 0; border-top: 1px solid var(--line); }
.codes p { margin: .1rem 0; }
.overview { list-style: none; padding: 0; margin: .5rem 0; }
.overview a { text-decoration: none; }
.overview .method { min-width: 4.75rem; text-align: center; margin-right: .4rem; }
.overview li { padding: .2rem 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; background: var(--ground); padding: .5rem; }
@media (min-width: 60rem) {
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); border-bottom: 0; }
  nav > ul { columns: auto; }
  nav > ul > li > a { font-weight: 600; margin-top: .5rem; }
  nav ul ul { display: block; padding-left: .6rem; }
  nav ul ul a { color: var(--ink); }
  main { padding: 1.5rem 3rem 6rem; max-width: 60rem; }
}
@media print { nav { display: none; } }
`;
