import { createHash } from "node:crypto";

/** For phones first. On wide screens, the table of contents is at the side, and the code next to its call. */
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

.overview .method { min-width: 4.75rem; text-align: center; margin-right: .15rem; }
.overview li { padding: .2rem 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.results { list-style: none; padding: 0; margin: .5rem 0; }
.results small { display: block; color: var(--soft); overflow-wrap: anywhere; }
.search, .languages { margin: 0 0 .75rem; }
.search label { font-weight: 600; display: block; }
input[type="search"] { width: 100%; font: inherit; padding: .4rem .5rem; color: inherit; background: var(--ground);
  border: 1px solid var(--soft); border-radius: .4rem; }
.languages { border: 0; padding: 0; min-width: 0; display: flex; flex-wrap: wrap; gap: .25rem .75rem; }
.languages legend { font-weight: 600; padding: 0; float: left; margin-right: .75rem; }
.languages label { display: inline-flex; gap: .25rem; align-items: center; }
[hidden] { display: none !important; }
body:has(#show-sh:checked) :is(.sample.js, .sample.python), body:has(#show-js:checked) :is(.sample.sh, .sample.python),
body:has(#show-python:checked) :is(.sample.sh, .sample.js) { display: none; }
.caption { margin: .75rem 0 0; font-size: .8125rem; font-weight: 600; color: var(--soft); }
.sample pre { margin-top: .2rem; max-height: 28rem; overflow: auto; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; background: var(--ground); padding: .5rem; }
@media (min-width: 60rem) {
  .page { display: grid; grid-template-columns: 16rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); border-bottom: 0; }
  nav > ul { columns: auto; }
  nav > ul > li > a { font-weight: 600; margin-top: .5rem; }
  nav ul ul { display: block; padding-left: .6rem; }
  nav ul ul a { color: var(--ink); }
  main { padding: 1.5rem 2.5rem 6rem; max-width: 96rem; }
  main > section > :not(article, .codes), main > header { max-width: 50rem; }
}
@media (min-width: 75rem) {
  article:has(> .samples) { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2rem; }
  .samples { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; }
}
@media print { nav { display: none; } }
`;

/** Searches the page in the browser. Without it, the page only lacks the search. */
export const DOCS_SCRIPT = `
(() => {
  const RESULTS_MAX = 30;
  const box = document.getElementById("q");
  const results = document.getElementById("results");
  const count = document.getElementById("count");
  const contents = document.getElementById("contents");
  box.closest("[hidden]").hidden = false;
  let pages;
  const collect = () =>
    [...document.querySelectorAll("main article, main .codes > div, main > section")].map((part) => {
      const name = part.querySelector("h2, h3, .name").textContent.trim();
      const own = part.matches("section") && part.querySelector("article, .codes > div");
      const place = part.querySelector(".place")?.textContent.trim().replace(/\\s+/g, " ") ?? "";
      const text = own ? part.querySelector("h2 + p")?.textContent ?? "" : part.textContent;
      return { id: part.id, name, place, title: (name + " " + place + " " + part.id).toLowerCase(), text: text.toLowerCase() };
    });
  const search = () => {
    const words = box.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
    contents.hidden = words.length > 0;
    results.replaceChildren();
    count.textContent = "";
    if (words.length === 0) return;
    pages ??= collect();
    const inName = (page) => words.every((word) => page.name.toLowerCase().includes(word));
    const inTitle = (page) => words.every((word) => page.title.includes(word));
    const rank = (page) => (inName(page) ? 0 : inTitle(page) ? 1 : 2);
    const found = pages.filter((page) => words.every((word) => page.title.includes(word) || page.text.includes(word)));
    const ordered = found.toSorted((left, right) => rank(left) - rank(right));
    count.textContent = found.length === 1 ? "1 result" : found.length + " results";
    for (const page of ordered.slice(0, RESULTS_MAX)) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = "#" + page.id;
      link.textContent = page.name;
      item.append(link);
      if (page.place !== "") {
        const place = document.createElement("small");
        place.textContent = page.place;
        link.append(place);
      }
      results.append(item);
    }
  };
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") results.querySelector("a")?.click();
    if (event.key === "Escape") { box.value = ""; search(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    event.preventDefault();
    box.focus();
  });
  if (box.value !== "") search();
})();
`;

/** The relay's mark: one in, many out. */
export const FAVICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1d4fc4"/><g fill="none" stroke="#fff" stroke-width="2.5"><path d="M8 16h16M8 16 24 7M8 16l16 9"/></g><g fill="#fff"><circle cx="8" cy="16" r="3.5"/><circle cx="24" cy="7" r="3"/><circle cx="24" cy="16" r="3"/><circle cx="24" cy="25" r="3"/></g></svg>',
  );

const cspHash = (text: string) => createHash("sha256").update(text).digest("base64");

/** The page's content security policy: its own style and search script, and nothing else. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${cspHash(DOCS_STYLE)}'`,
  `script-src 'sha256-${cspHash(DOCS_SCRIPT)}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
