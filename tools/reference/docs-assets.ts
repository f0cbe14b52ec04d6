import { createHash } from "node:crypto";

/** For phones first. On wide screens, the table of contents is at the side, and the code next to its call. */
export const DOCS_STYLE = `
/* The script's button for light or dark sets "color-scheme". */
:root { color-scheme: light dark; --ground: light-dark(#ffffff, #15171b); --raised: light-dark(#f6f7f9, #1c1f25);
  --bar: light-dark(#e9ebef, #292d35); --ink: light-dark(#1a1c21, #eceef2); --soft: light-dark(#545b68, #a9b0bd);
  --line: light-dark(#d9dce2, #383d47); --link: light-dark(#1d4fc4, #8fb2ff); --get: light-dark(#1d4fc4, #8fb2ff);
  --post: light-dark(#17653a, #7fd6a2); --patch: light-dark(#7d4b00, #f0b95c); --delete: light-dark(#a51d2d, #ff8f9b);
  --word: light-dark(#86258a, #e3a1ec); }
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
main { padding: 1rem; min-width: 0; }
.top { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; justify-content: space-between; gap: 1rem;
  min-height: 3rem; padding: 0 1rem; background: var(--ground); border-bottom: 1px solid var(--line); font-weight: 600; }
.top a { color: inherit; text-decoration: none; line-height: 1.25; overflow-wrap: anywhere; margin-right: auto; }
.top input { position: absolute; opacity: 0; }
.top label { padding: .35rem .75rem; border: 1px solid var(--soft); border-radius: .4rem; cursor: pointer; }
.top input:focus-visible + label { outline: 3px solid var(--link); outline-offset: 2px; }
.top input:checked + label { background: var(--bar); }
nav { display: contents; font-size: .9375rem; scrollbar-width: thin; scrollbar-color: var(--line) transparent; }
.side { display: none; }
nav:has(#menu:checked) .side { display: block; position: fixed; z-index: 1; inset: 3rem 0 0; overflow-y: auto;
  overscroll-behavior: contain; padding: 1rem; background: var(--ground); }
nav ul { list-style: none; margin: 0; padding: 0; }
.side a { display: block; padding: .3rem .5rem; border-radius: .3rem; text-decoration: none; }
.side > ul > li > a { font-weight: 600; margin-top: .4rem; color: var(--ink); }
.side ul ul a { color: var(--ink); display: flex; gap: .5rem; align-items: baseline; line-height: 1.3; }
.side ul ul .method { font-size: .625rem; border: 0; padding: 0; min-width: 2.75rem; flex: none; text-align: right; }
.side a:hover { background: var(--raised); }
.side a[aria-current] { background: var(--bar); box-shadow: inset 3px 0 var(--link); }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.375rem; line-height: 1.25; margin: 3rem 0 .5rem; padding-bottom: .25rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1.1875rem; line-height: 1.3; margin: 0 0 .25rem; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h3 a:is(:hover, :focus-visible)::after { content: " #" / ""; color: var(--soft); font-weight: 400; }
h4 { font-size: .9375rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0 .75rem; }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
p code, li code { background: var(--bar); border-radius: .25rem; padding: .05rem .25rem; }
.place code, code.name, .overview code, .answers a code { background: none; padding: 0; }
article { padding: 2rem 0; border-bottom: 1px solid var(--line); }
.soft, .limits, .type { color: var(--soft); }
.place { margin: .25rem 0 .75rem; }
.method { display: inline-block; font-weight: 700; font-size: .8125rem; padding: 0 .4rem; border: 1px solid; border-radius: .3rem; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.fields, .answers { list-style: none; margin: .25rem 0; padding: 0; }
.fields > li, .answers > li { padding: .5rem 0; border-top: 1px solid var(--line); }
.fields p { margin: .15rem 0; }
.fields .fields, .answers .fields { margin-left: .25rem; padding-left: .75rem; border-left: 2px solid var(--line); }
.fields .fields > li:first-child, .answers .fields > li:first-child { border-top: 0; }
.name, .status { font-weight: 700; }
.type, .limits { font-size: .875rem; overflow-wrap: anywhere; }
.limits::before { content: "· "; }
.optional { font-size: .8125rem; font-style: italic; color: var(--soft); }
.required { font-size: .8125rem; font-weight: 600; color: var(--delete); }
.errors a { margin-right: .4rem; }
details { margin: .25rem 0; }
summary { cursor: pointer; color: var(--link); padding: .25rem 0; }
li > details > summary { display: inline-flex; align-items: center; gap: .4rem; margin: .25rem 0; padding: .15rem .6rem; border: 1px solid var(--line);
  border-radius: 1rem; font-size: .875rem; list-style: none; }
li > details > summary::-webkit-details-marker { display: none; }
li > details > summary::before { content: "+"; width: .6rem; text-align: center; font-weight: 700; }
li > details[open] > summary::before { content: "−"; }
li > details > summary:hover { background: var(--raised); border-color: var(--soft); }
.codes > div { padding: .6rem 0; border-top: 1px solid var(--line); }
.codes p { margin: .1rem 0; }
.overview { list-style: none; padding: 0; margin: .5rem 0; }
.overview .method { width: 4.75rem; text-align: center; }
.overview li { display: grid; grid-template-columns: auto minmax(0, 1fr); align-items: baseline; gap: 0 .6rem; padding: .3rem 0; }
.overview li > :last-child { grid-column: 2; margin: 0; line-height: 1.4; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.results { list-style: none; padding: 0; margin: .5rem 0; }
.results small { display: block; color: var(--soft); overflow-wrap: anywhere; }
.search { margin: 0 0 .75rem; }
.search label { font-weight: 600; display: flex; align-items: center; gap: .4rem; margin-bottom: .25rem; }
kbd { font: .75rem/1.4 ui-monospace, monospace; padding: 0 .35rem; border: 1px solid var(--soft); border-radius: .25rem; color: var(--soft); }
input[type="search"], .try input, .try textarea { width: 100%; font: inherit; padding: .4rem .5rem; color: inherit;
  background: var(--ground); border: 1px solid var(--soft); border-radius: .4rem; }
[hidden] { display: none !important; }
.code { border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); overflow: clip; margin: 0 0 1rem; }
.bar { display: flex; align-items: center; gap: .5rem; min-height: 2.5rem; padding: 0 .5rem 0 .75rem; background: var(--bar); font-size: .875rem; }
.bar p { margin: 0; font-weight: 600; }
.bar fieldset { border: 0; margin: 0; padding: 0; min-width: 0; display: flex; align-self: stretch; }
.bar legend { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.bar fieldset label { position: relative; display: flex; align-items: center; padding: 0 .6rem; cursor: pointer; border-bottom: 2px solid transparent; color: var(--soft); }
.bar fieldset input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.bar label:has(:checked) { color: var(--ink); font-weight: 600; border-color: var(--link); }
.bar label:has(:focus-visible) { outline: 3px solid var(--link); outline-offset: -3px; }
.bar button { margin-left: auto; } .bar button + button { margin-left: 0; }
button { font: inherit; font-size: .8125rem; color: var(--ink); background: var(--ground); border: 1px solid var(--soft);
  border-radius: .35rem; padding: .2rem .6rem; white-space: nowrap; cursor: pointer; }
button:hover, .top label:hover { background: var(--raised); }
pre { margin: 0; padding: .75rem; white-space: pre-wrap; word-break: break-all; font-size: .8125rem; }
pre code { font-size: inherit; }
.tabbed:has([value="sh"]:checked) > pre:not(.sh), .tabbed:has([value="js"]:checked) > pre:not(.js),
.tabbed:has([value="python"]:checked) > pre:not(.python) { display: none; }
.k { color: var(--get); } .s { color: var(--post); } .n { color: var(--patch); } .w { color: var(--word); }
.try { padding: .75rem; display: grid; gap: .5rem; border-top: 1px solid var(--line); font-size: .875rem; }
.try textarea { font: .8125rem/1.5 ui-monospace, monospace; field-sizing: content; min-height: 6rem; }
.try button { justify-self: start; }
.try [aria-invalid="true"] { border: 2px solid var(--delete); }
.try .wrong { margin: 0; color: var(--delete); }
.skip { position: absolute; left: -100vw; z-index: 3; }
.skip:focus { left: 1rem; top: .5rem; background: var(--ground); padding: .5rem; }
@media (min-width: 60rem) {
  html { scroll-padding-top: 1rem; }
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { display: block; position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); background: var(--ground); }
  .top { position: static; } .top input, .top label { display: none; }
  .side, nav:has(#menu:checked) .side { display: block; position: static; padding: 1rem .75rem 4rem; }
  .overview li { grid-template-columns: auto minmax(0, 1fr) minmax(0, 1fr); }
  .overview li > :last-child { grid-column: 3; }
  main { padding: 1.5rem 2rem 6rem; max-width: 100rem; }
  main > section > :not(article, .codes), main > header, #schemas article { max-width: 46rem; }
}
@media (min-width: 75rem) {
  article:has(> .samples) { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2rem; }
  /* The script sets "top", by which it stays in sight: at its beginning, or if it is taller than the window, at its end. */
  .samples { position: sticky; align-self: start; }
  .samples pre { word-break: normal; overflow-wrap: anywhere; }
}
@media print { nav { display: none; } }
`;

/**
 * What a browser adds: search, the marked place, buttons that copy, one language everywhere, and in a local run, calls
 * with the demo's key. Without it the page has all its content.
 */
export const DOCS_SCRIPT = `
(() => {
  const RESULTS_MAX = 30;
  // Words of other APIs, with what they are called here.
  const SYNONYMS = { analytics: ["stats"], attention: ["problem"], cancel: ["delete"], credits: ["tokens"], customer: ["profile"],
    find: ["get", "list"], image: ["picture", "media"], images: ["pictures", "media"], media: ["files"], month: ["days", "period", "usage"],
    monthly: ["days", "period", "usage"], search: ["get", "list"], statistics: ["stats"], upload: ["files", "mediaurls"], workspace: ["platform"] };
  // Words for what an operation is used for, which its own text doesn't have.
  const PURPOSES = { createMedia: "upload", getStats: "analytics month monthly report", listApplicationPosts: "attention failed partial problem",
    listProfiles: "begins name prefix starts" };
  const FILLERS = new Set("a an and do for how i in my need needs of on that the this to which with".split(" "));
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const box = document.getElementById("q");
  const results = document.getElementById("results");
  const count = document.getElementById("count");
  const contents = document.getElementById("contents");
  const menu = document.getElementById("menu");
  box.closest("[hidden]").hidden = false;
  let pages;
  const collect = () =>
    all("main article, main .codes > div, main > section").map((part) => {
      const name = part.querySelector("h2, h3, .name").textContent.trim();
      const own = part.matches("section") && part.querySelector("article, .codes > div");
      const kind = part.matches("#schemas article") ? "Schema" : part.matches("#errors .codes > div") ? "API error" : part.matches(".codes > div") ? "Leg error or finding" : "";
      const place = part.querySelector(".place")?.textContent.trim().replace(/\\s+/g, " ") ?? kind;
      const text = own ? part.querySelector("h2 + p")?.textContent ?? "" : part.textContent;
      const title = [name, place, part.id, PURPOSES[part.id] ?? ""].join(" ");
      const isCatalog = part.matches("#schemas article, .codes > div");
      return { id: part.id, name, place, isCatalog, words: wordsOf(name), title: wordsOf(title), text: wordsOf(text) };
    });
  // Each part of a name such as "mediaUrls" begins a word, too.
  const wordsOf = (text) => text.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "\\u200b").toLowerCase();
  // Finds words that begin with what was typed.
  const beginning = (typed) => {
    const letters = [...typed].map((letter) => letter.replace(/[^a-z0-9]/, "\\\\$&"));
    return new RegExp("(?<![a-z0-9])" + letters.join("\\u200b?"));
  };
  const search = () => {
    const typed = box.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
    const meant = typed.filter((word) => !FILLERS.has(word));
    const words = (meant.length === 0 ? typed : meant).map((word) => ({
      own: beginning(word), any: [word, ...(SYNONYMS[word] ?? [])].map(beginning) }));
    // Another word for what was typed counts in a title alone: in texts, most of them mean something else.
    const isIn = (title, text = "") => words.every(({ own, any }) => any.some((word) => word.test(title)) || own.test(text));
    const isOwn = (title) => words.every(({ own }) => own.test(title));
    contents.hidden = words.length > 0;
    results.replaceChildren();
    count.textContent = "";
    if (words.length === 0) return;
    pages ??= collect();
    // Operations and chapters by name and title come first, then schemas and codes, then what only mentions the words.
    const rank = ({ name, words, title, isCatalog }) => {
      const isExact = name.toLowerCase() === typed.join(" ");
      if (isCatalog) return isExact ? 5 : isIn(title) ? 6 : 8;
      return isExact ? 0 : isOwn(words) ? 1 : isOwn(title) ? 2 : isIn(words) ? 3 : isIn(title) ? 4 : 7;
    };
    const found = pages.filter((page) => isIn(page.title, page.text));
    const ordered = found.toSorted((left, right) => rank(left) - rank(right));
    count.textContent = found.length === 1 ? "1 result" : found.length + " results";
    for (const page of ordered.slice(0, RESULTS_MAX)) {
      const item = make("li");
      const link = make("a", { href: "#" + page.id, textContent: page.name });
      item.append(link);
      if (page.place !== "") link.append(make("small", { textContent: page.place }));
      results.append(item);
    }
  };
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") results.querySelector("a")?.click();
    if (event.key !== "Escape" || box.value === "") return;
    // The next one closes the contents.
    event.stopPropagation();
    box.value = "";
    search();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.checked) {
      menu.checked = false;
      menu.focus();
    }
    const holds = event.ctrlKey || event.metaKey;
    const isSlash = event.key === "/" && !holds && !event.altKey && !event.target.matches("input, textarea");
    if (!isSlash && !(event.key === "k" && holds)) return;
    event.preventDefault();
    menu.checked = true;
    box.focus();
  });
  contents.parentElement.addEventListener("click", (event) => {
    if (event.target.closest("a") !== null) menu.checked = false;
  });
  if (box.value !== "") search();

  const kept = { get: (name) => { try { return sessionStorage.getItem(name); } catch { return null; } },
    set: (name, value) => { try { sessionStorage.setItem(name, value); } catch {} } };
  const theme = make("button", { type: "button" });
  const paint = (scheme) => {
    document.documentElement.style.colorScheme = scheme;
    const isDark = (scheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    theme.textContent = isDark ? "Light" : "Dark";
    theme.onclick = () => { kept.set("scheme", isDark ? "light" : "dark"); paint(isDark ? "light" : "dark"); };
  };
  paint(/^(?:light|dark)$/.test(kept.get("scheme") ?? "") ? kept.get("scheme") : "");
  document.querySelector(".top a").after(theme);

  const choose = (language) => {
    for (const one of all('.tabbed [value="' + language + '"]')) one.checked = true;
  };
  if (/^\\w+$/.test(kept.get("language") ?? "")) choose(kept.get("language"));
  document.addEventListener("change", ({ target }) => {
    if (!target.matches(".tabbed input")) return;
    const { top } = target.getBoundingClientRect();
    choose(target.value);
    kept.set("language", target.value);
    // Boxes above changed their height, and the reader's own one stays where it is.
    scrollBy(0, target.getBoundingClientRect().top - top);
  });

  const shown = (code) => all("pre", code).find((pre) => pre.offsetParent !== null) ?? code.querySelector("pre");
  const addCopy = (code) => {
    const button = make("button", { type: "button", textContent: "Copy" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(shown(code).textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(shown(code));
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.querySelector(".bar").append(button);
  };
  all(".code").forEach(addCopy);

  // The fields of a named type open where it is named. They are copied from its schema when somebody wants to see them.
  const fieldsOf = (link) => document.querySelector(link.hash + " > .fields");
  for (const link of all('li > .type > a[href^="#schema-"]')) {
    const item = link.closest("li");
    const length = fieldsOf(link)?.children.length ?? 0;
    if (length === 0 || item.querySelector(":scope > details")) continue;
    const fold = make("details");
    fold.append(make("summary", { textContent: length + (length === 1 ? " field" : " fields") }));
    item.append(fold);
  }
  document.addEventListener("toggle", ({ target }) => {
    const link = target.parentElement.querySelector(':scope > .type > a[href^="#schema-"]');
    if (target.open && link && target.children.length === 1) target.append(fieldsOf(link).cloneNode(true));
  }, true);

  const MARGIN = 16;
  const stick = (samples) => {
    samples.style.top = Math.min(MARGIN, innerHeight - samples.offsetHeight - MARGIN) + "px";
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => stick(target)));
  const boxes = all(".samples");
  for (const samples of boxes) sizes.observe(samples);
  addEventListener("resize", () => boxes.forEach(stick));

  const links = new Map(all("#contents a").map((link) => [link.hash.slice(1), link]));
  const parts = all("main article, main > section").filter((part) => links.has(part.id));
  let marked;
  const mark = () => {
    // The last one that begins above a line below the top bar.
    let low = 0, high = parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (parts[middle].getBoundingClientRect().top <= 96) low = middle + 1;
      else high = middle;
    }
    const link = links.get(parts[Math.max(0, low - 1)]?.id);
    if (link === marked) return;
    marked?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    if (link?.offsetParent) link.scrollIntoView({ block: "nearest" });
    marked = link;
  };
  let waits = false;
  addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; mark(); });
  }, { passive: true });
  mark();

  const isLocal = ["localhost", "127.0.0.1"].includes(location.hostname);
  // The demo's key and ids, and the operation to show: "#demo=sk_…,prf_…,app_…,createPost".
  const [, given] = /^#demo=([\\w,]+)$/.exec(location.hash) ?? [];
  if (isLocal && given !== undefined) {
    kept.set("demo", given);
    const target = given.split(",").find((word) => document.getElementById(word) !== null);
    history.replaceState(null, "", location.pathname + (target === undefined ? "" : "#" + target));
  }
  const demo = (isLocal && kept.get("demo") || "").split(",");
  const demoKey = demo.find((word) => word.startsWith("sk_"));
  if (demoKey === undefined) return;
  // The latest id of each kind, by its prefix: the demo's own, and then what answers named.
  const known = new Map();
  const learn = (text) => {
    const found = [...text.matchAll(/\\b([a-z]{3})_[0-9A-Z]{26}\\b/g)];
    // Lists have the newest first.
    for (const [id, prefix] of found.reverse()) known.set(prefix, id);
  };
  learn(demo.join(" "));
  const demoProfile = known.get("prf");
  const demoApplication = known.get("app");
  const PREFIXES = { applicationId: "app", connectionId: "con", deliveryId: "dlv", keyId: "key", mediaId: "med", postId: "pst",
    profileId: "prf", sessionId: "cns", webhookId: "whk" };
  // Times of examples are long over: a week until now takes their place.
  const recent = (query) => query.replace(/\\b(from|to)=\\d{4}-[^&]+/g, (_, name) =>
    name + "=" + new Date(Date.now() - (name === "from" ? 7 * 86_400_000 : 0)).toISOString());
  const filled = (path) => path.replace(/\\{(\\w+)\\}/g, (place, name) => known.get(PREFIXES[name]) ?? place);
  // The example as a call that this relay can carry out: with ids and a file that there are, and a text that was not sent before.
  const tried = (example, call) => example && JSON.stringify(JSON.parse(example), (name, value) =>
    name === "mediaUrls" ? value.map(() => "https://media.sandbox.test/portrait.jpg") :
    name === "text" ? value + " " + new Date().toLocaleTimeString("en-GB") :
    name === "url" && /^POST \\/v1\\/webhooks$/.test(call) ? "http://localhost:3000/webhooks" :
    typeof value === "string" && /^[a-z]{3}_[0-9A-Z]{26}$/.test(value) ? known.get(value.slice(0, 3)) ?? value : value, 2);
  const addTry = (samples) => {
    const article = samples.closest("article");
    const code = article.querySelector(".tabbed");
    const method = article.querySelector(".method").textContent;
    const open = make("button", { type: "button", textContent: "Try it" });
    open.setAttribute("aria-expanded", "false");
    let panel;
    open.addEventListener("click", () => {
      if (panel !== undefined) {
        panel.hidden = !panel.hidden;
        open.setAttribute("aria-expanded", String(!panel.hidden));
        return;
      }
      const path = filled(article.querySelector(".place code").textContent + recent(samples.dataset.query ?? ""));
      panel = make("form", { className: "try" });
      const label = make("label", { textContent: method });
      const address = make("input", { value: path, spellcheck: false });
      const wrong = make("p", { className: "wrong", id: article.id + "-wrong", hidden: true });
      wrong.setAttribute("role", "alert");
      address.setAttribute("aria-describedby", wrong.id);
      label.append(address);
      // Nothing is sent with a placeholder: it would be taken for an id.
      const findPlace = () => {
        const found = /\\{\\w+\\}/.exec(address.value);
        wrong.hidden = found === null;
        wrong.textContent = found === null ? "" : "Replace " + found[0] + " before you send.";
        address.setAttribute("aria-invalid", String(found !== null));
        return found;
      };
      address.addEventListener("input", () => { if (!wrong.hidden) findPlace(); });
      const bodyLabel = make("label", { textContent: "Body", hidden: samples.dataset.try === "" });
      const body = make("textarea", { value: tried(samples.dataset.try, method + " " + path), spellcheck: false });
      bodyLabel.append(body);
      const send = make("button", { textContent: "Send with the demo's key" });
      const answer = make("pre", { tabIndex: -1, hidden: true });
      answer.setAttribute("role", "status");
      panel.append(label, wrong, bodyLabel, send, answer);
      panel.addEventListener("submit", async (event) => {
        event.preventDefault();
        // An id that a call answered meanwhile.
        address.value = filled(address.value);
        const place = findPlace();
        if (place !== null) {
          address.focus();
          return address.setSelectionRange(place.index, place.index + place[0].length);
        }
        answer.hidden = false;
        answer.textContent = "…";
        const base = location.pathname.replace(/\\/docs$/, "");
        const headers = { authorization: "Bearer " + demoKey, "x-profile-id": demoProfile };
        if (article.querySelector(".about").textContent.includes("Idempotency-Key")) headers["idempotency-key"] = "reference-" + Date.now();
        const hasBody = samples.dataset.try !== "";
        if (hasBody) headers["content-type"] = "application/json";
        try {
          const response = await fetch(base + address.value, { method, headers, ...(hasBody ? { body: body.value } : {}) });
          const text = await response.text();
          if (response.ok) learn(text);
          known.set("prf", demoProfile);
          known.set("app", demoApplication);
          let shownText = text;
          try { shownText = JSON.stringify(JSON.parse(text), null, 2); } catch {}
          answer.textContent = response.status + "\\n" + shownText;
        } catch (error) {
          answer.textContent = "The relay did not answer: " + error.message;
        }
      });
      code.append(panel);
      open.setAttribute("aria-expanded", "true");
      address.focus();
    });
    code.querySelector(".bar").append(open);
  };
  all(".samples[data-try]").forEach(addTry);
})();
`;

/** The relay's mark: one in, many out. */
export const FAVICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1d4fc4"/><g fill="none" stroke="#fff" stroke-width="2.5"><path d="M8 16h16M8 16 24 7M8 16l16 9"/></g><g fill="#fff"><circle cx="8" cy="16" r="3.5"/><circle cx="24" cy="7" r="3"/><circle cx="24" cy="16" r="3"/><circle cx="24" cy="25" r="3"/></g></svg>',
  );

const cspHash = (text: string) => createHash("sha256").update(text).digest("base64");

/** The page's content security policy: its own style and script, and in a local run, calls of the relay itself. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${cspHash(DOCS_STYLE)}'`,
  `script-src 'sha256-${cspHash(DOCS_SCRIPT)}'`,
  "img-src data:",
  "connect-src http://localhost:* http://127.0.0.1:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
