import { readFileSync } from "node:fs";
import { htmlPage, json, readObject } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { ICON, escapeHtml } from "./html.ts";
import { route, type Route, type SandboxNetwork } from "./network.ts";
import { pageStyle } from "./page-style.ts";

/** A relay, and a customer of it for whom the page uploads files. */
export interface UploadingCustomer {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profileId: string;
  /** The file that has the customer's headers for `curl -K`. */
  readonly curlFile: string;
}

const SCRIPT = new URL("uploads-page.js", import.meta.url);
/** Longer than the relay itself works on a call: reading a file takes the longest. */
const CALL_MS_MAX = 60_000;
const BODY_MAX = 64 * 1024;
const STORAGE = "http://127.0.0.1:* http://localhost:* https://*.blob.core.windows.net";
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  `connect-src 'self' ${STORAGE}`,
  `img-src 'self' data: ${STORAGE}`,
  `media-src 'self' ${STORAGE}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const style = `${pageStyle}
:root{--good:#1a7431;--action:#2457d6}
@media (prefers-color-scheme:dark){:root{--good:#6fd58a;--action:#2f5fdb}}
[hidden]{display:none!important}
.top p a{white-space:normal}
main.uploads{grid-template-columns:minmax(0,1fr);padding-bottom:2.5rem}
@media (min-width:64rem){main.uploads:not(.single){grid-template-columns:minmax(0,1fr) minmax(0,30rem);grid-template-rows:none}.beside{align-self:stretch}.uploads .code{position:sticky;top:1rem}.uploads #listed{grid-column:1/-1}}
.box{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.1rem 1.25rem;min-width:0}
.beside{min-width:0}.work{display:grid;gap:1.5rem;min-width:0}
.box h2{margin:0;font-size:1.05rem}
.box h3{margin:1.4rem 0 .5rem;font-size:.95rem}
.note,.box small{color:var(--soft);font-size:.875rem}
.note{margin:.25rem 0 0}
button,.button{font:inherit;font-size:.92rem;font-weight:600;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:9px;padding:.42rem .9rem;cursor:pointer}
button:hover,.button:hover{border-color:var(--link)}
button:disabled{opacity:.6;cursor:default}
.main{background:var(--action);border-color:var(--action);color:#fff}
.main:hover{filter:brightness(1.08)}
button.danger{color:var(--alarm)}button.danger:hover{border-color:var(--alarm)}
#zone{position:relative;display:grid;justify-items:center;gap:.6rem;text-align:center;border:2px dashed var(--line);background:var(--card);border-radius:14px;padding:2rem 1rem}
#zone.over{border-color:var(--link);background:var(--code)}
#zone svg{width:2.4rem;height:2.4rem;color:var(--soft)}
#zone p{margin:0}
#file{position:absolute;width:1px;height:1px;clip-path:inset(50%)}
#file:focus-visible+.button{outline:3px solid var(--link);outline-offset:2px}
.samples{display:flex;flex-wrap:wrap;gap:.4rem;justify-content:center;align-items:center;font-size:.875rem;color:var(--soft)}
.samples button{font-size:.82rem;font-weight:400;padding:.15rem .6rem;border-radius:99px}
#chosen:empty{display:none}
#chosen{font-weight:600}
.steps{list-style:none;margin:1rem 0 0;padding:0;display:grid;gap:1rem;counter-reset:step}
.steps>li{counter-increment:step;display:grid;grid-template-columns:1.75rem minmax(0,1fr) auto;gap:.1rem .75rem;align-items:start}
.steps>li::before{content:counter(step);grid-row:1/9;display:grid;place-items:center;width:1.75rem;height:1.75rem;border-radius:50%;border:1.5px solid var(--line);font-size:.85rem;font-weight:600;color:var(--soft)}
.steps>li[data-state=running]::before{border-color:var(--link);color:var(--link)}
.steps>li[data-state=done]::before{content:"✓";background:var(--good);border-color:var(--good);color:var(--card)}
.steps>li[data-state=failed]::before{content:"!";background:var(--alarm);border-color:var(--alarm);color:var(--card)}
.steps .state{font-size:.85rem;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.steps [data-state=failed] .state{color:var(--alarm)}
.steps .note,.steps .call,.steps details,.steps .trouble,.steps .sending{grid-column:2/-1}
.call{font-size:.85rem;justify-self:start}
.sending{display:flex;flex-wrap:wrap;gap:.25rem .8rem;align-items:center;margin-top:.4rem;font-size:.85rem;color:var(--soft);font-variant-numeric:tabular-nums}
progress{flex:1 1 10rem;height:.5rem;border:0;border-radius:99px;overflow:hidden;appearance:none;background:var(--code);accent-color:var(--action)}
progress::-webkit-progress-bar{background:var(--code)}
progress::-webkit-progress-value{background:var(--action);border-radius:99px}
progress::-moz-progress-bar{background:var(--action)}
.uploads summary{cursor:pointer;font-size:.85rem;color:var(--soft);margin-top:.35rem}
.uploads pre{margin:.4rem 0 0;padding:.8rem .9rem;background:var(--code);border-radius:10px;font:.8rem/1.55 ui-monospace,SFMono-Regular,Menlo,monospace;overflow:auto;max-height:22rem;white-space:pre-wrap}
.uploads .code pre{max-height:34rem}
.trouble:empty{display:none}
.trouble{margin-top:.6rem;padding:.65rem .85rem;border:1px solid var(--alarm);border-radius:10px;font-size:.9rem}
.trouble strong{color:var(--alarm)}
.trouble p{margin:.15rem 0 0}.trouble ul{margin:.25rem 0 0;padding-left:1.1rem}
.trouble button{margin-top:.6rem}
.head{display:flex;gap:.75rem;justify-content:space-between;align-items:center}
.file{display:grid;gap:1rem 1.25rem;margin-top:.9rem}
@media (min-width:40rem){.file{grid-template-columns:13rem minmax(0,1fr)}}
#preview{display:grid;place-items:center;align-self:start;background:var(--code);border-radius:10px;min-height:7rem;overflow:hidden}
#preview img,#preview video{display:block;max-width:100%;max-height:16rem}
#preview audio{width:100%}
.sheet{display:grid;place-items:center;width:2.7rem;height:3.4rem;border-radius:5px;background:var(--soft);color:var(--card);font-size:.68rem;font-weight:700}
#facts{margin:0;display:grid;gap:.35rem;align-content:start;font-size:.9rem}
#facts div{display:grid;grid-template-columns:8rem minmax(0,1fr);gap:.75rem}
#facts dt{color:var(--soft)}#facts dd{margin:0}
.verdicts{list-style:none;margin:0;padding:0;display:grid;gap:.45rem;font-size:.92rem}
.verdicts li{position:relative;padding-left:1.6rem}
.verdicts li::before{position:absolute;left:0;font-weight:700}
.verdicts .fits::before{content:"✓";color:var(--good)}
.verdicts .misfits::before{content:"✕";color:var(--alarm)}
.verdicts .waits::before{content:"…";color:var(--soft)}
.verdicts .sum{padding-left:0;color:var(--soft);font-size:.875rem}
.verdicts p{margin:.1rem 0 .2rem;color:var(--soft)}
.verdicts .remedy{display:block;color:var(--text)}
.verdicts p a{font-size:.82rem}
form.post-it{display:grid;gap:.8rem}
.post-it label.field{display:grid;gap:.25rem;font-size:.9rem;font-weight:600}
.post-it textarea,.post-it input[type=text]{font:inherit;font-weight:400;color:inherit;background:var(--back);border:1px solid var(--soft);border-radius:9px;padding:.5rem .65rem;width:100%}
.post-it textarea{resize:vertical;min-height:4rem}
.post-it fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.35rem 1rem;font-size:.92rem}
.post-it legend{padding:0;font-size:.9rem;font-weight:600;margin-bottom:.25rem}
.post-it fieldset label{display:inline-flex;gap:.4rem;align-items:center;min-height:1.5rem}
.post-it button{justify-self:start}
#outcome:not(:empty){margin-top:1rem}
.tabs{display:flex;flex-wrap:wrap;gap:.25rem;margin-top:.7rem;border-bottom:1px solid var(--line)}
.tabs [role=tab]{border:0;border-bottom:2px solid transparent;border-radius:0;background:none;padding:.35rem .6rem;color:var(--soft)}
.tabs [aria-selected=true]{color:var(--text);border-color:var(--link)}
.list{list-style:none;margin:.9rem 0 0;padding:0}
.list li{display:grid;grid-template-columns:3rem minmax(0,1fr);gap:.35rem .9rem;align-items:center;padding:.7rem 0;border-top:1px solid var(--line)}
.list .thumb{grid-row:1/3;display:grid;place-items:center;width:3rem;height:3rem;border-radius:8px;background:var(--code);overflow:hidden}
.list .thumb img{width:100%;height:100%;object-fit:cover}
.list .sheet{width:2.1rem;height:2.5rem}
.list .what small,.list .what strong{display:block}
.list .badge{justify-self:start;font-size:.82rem}
.list [data-state=ready] .badge{color:var(--good);border-color:var(--good)}
.list [data-state=rejected] .badge{color:var(--alarm);border-color:var(--alarm)}
.list .kept,.list .acts,.list p{grid-column:2/-1}
.list p{margin:0;color:var(--soft);font-size:.875rem}
.acts{display:flex;gap:.4rem}
.acts button{font-size:.85rem;padding:.25rem .7rem}
@media (min-width:56rem){.list li{grid-template-columns:3rem minmax(0,1fr) 11rem 15rem auto}.list .thumb{grid-row:1}.list .kept,.list .acts{grid-column:auto}.acts{justify-self:end;min-width:9rem;justify-content:end}}
#more{margin-top:.75rem}
dialog{border:1px solid var(--line);border-radius:14px;background:var(--card);color:var(--text);max-width:min(27rem,calc(100vw - 2rem));padding:1.25rem}
dialog::backdrop{background:#0008}
dialog h2{margin:0 0 .5rem;font-size:1.1rem}
dialog p{margin:0 0 1rem}
dialog form{display:flex;gap:.6rem;justify-content:end}
button.delete{background:var(--alarm);border-color:var(--alarm);color:var(--card)}
`;

const STEPS = [
  {
    name: "announce",
    title: "Announce it",
    call: "POST /v1/media",
    note: "Type, size and name. The answer has an address in storage for the bytes.",
  },
  {
    name: "send",
    title: "Send the bytes",
    call: "PUT upload.url",
    note: "Straight from this page to storage, without a key. The relay doesn't see them.",
  },
  {
    name: "complete",
    title: "Complete it",
    call: "POST /v1/media/{mediaId}/<wbr>complete",
    note: "The relay reads what the file is, once. Posts are checked by that.",
  },
] as const;

const CODES = [
  { name: "curl", title: "curl" },
  { name: "server", title: "Node" },
  { name: "page", title: "Web page" },
] as const;

const SAMPLE_NAMES = ["portrait.jpg", "clip.mp4", "document.pdf", "animation.gif"];

function document(body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${ICON}<title>Uploads</title><style>${style}</style></head><body>${body}</body></html>`;
}

function page(customer: UploadingCustomer, networks: readonly SandboxNetwork[]): string {
  const { baseUrl, profileId, curlFile } = customer;
  const platforms = networks.map(({ name, title }) => ({ name, title }));
  const demo = escapeHtml(JSON.stringify({ platforms, baseUrl, profileId, curlFile }));
  const steps = STEPS.map(({ name, title, call, note }) => {
    const sending =
      name === "send"
        ? '<div class="sending"><progress max="1" value="0" aria-label="Bytes sent"></progress><span id="sent"></span><button type="button" id="cancel" hidden>Cancel</button></div>'
        : "";
    return `<li id="step-${name}"><strong>${title}</strong><span class="state"></span><code class="call">${call}</code><p class="note">${note}</p>${sending}<div class="trouble"></div><details hidden><summary>Answer</summary><pre tabindex="0"></pre></details></li>`;
  });
  const tabs = CODES.map(
    ({ name, title }, at) =>
      `<button type="button" role="tab" id="tab-${name}" aria-controls="code-${name}" aria-selected="${at === 0}" tabindex="${at === 0 ? 0 : -1}">${title}</button>`,
  );
  const codes = CODES.map(
    ({ name }, at) =>
      `<div role="tabpanel" id="code-${name}" aria-labelledby="tab-${name}"${at === 0 ? "" : " hidden"}><pre tabindex="0"></pre></div>`,
  );
  const boxes = platforms.map(
    ({ name, title }) =>
      `<label><input type="checkbox" name="platform" value="${escapeHtml(name)}"> ${escapeHtml(title)}</label>`,
  );
  const samples = SAMPLE_NAMES.map(
    (name) => `<button type="button" data-sample="${name}">${name}</button>`,
  );
  return document(`<header class="top"><p><a href="/">← Sandbox networks</a></p><h1>Uploads</h1><p>A file of your disk becomes part of a post: three requests, which this page makes for the demo's profile. The first and the third need an API key, so your server makes them; here, the sandbox does. Nothing leaves your machine.</p></header>
<main class="uploads" data-demo="${demo}"><div class="work">
<section id="zone" aria-label="Choose a file"><svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 16V4m0 0L7.5 8.5M12 4l4.5 4.5M4 15v3a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-3"/></svg>
<p><input type="file" id="file" accept="image/*,video/*,audio/*,.heic,.heif,.pdf,.doc,.docx,.ppt,.pptx"><label for="file" class="button main">Choose a file</label> or drop it here</p>
<p class="note">Photos (HEIC, too), videos, audio, PDF, Word and PowerPoint, up to 1 GiB</p><div class="samples"><span>No file at hand?</span>${samples.join("")}</div><p id="chosen"></p></section>
<section class="box" id="steps" aria-labelledby="steps-title"><h2 id="steps-title">Three requests</h2><ol class="steps">${steps.join("")}</ol></section>
<section class="box" id="result" aria-labelledby="name" hidden><h2 id="name" tabindex="-1"></h2><div class="file"><div id="preview"></div><dl id="facts"></dl></div>
<h3>Which networks accept it</h3><ul class="verdicts" id="fits"></ul>
<h3>Publish it</h3><form class="post-it" id="publish"><label class="field">Text<textarea id="text" rows="2"></textarea></label><label class="field">Alt text<input type="text" id="alt" placeholder="What can be seen" maxlength="1000"></label><fieldset><legend>Networks</legend>${boxes.join("")}</fieldset><div class="trouble" role="alert"></div><button class="main">Post to the demo's profile</button></form><ul class="verdicts" id="outcome"></ul></section></div>
<div class="beside"><section class="box code" aria-labelledby="code-title"><div class="head"><h2 id="code-title">In your program</h2><button type="button" id="copy">Copy</button></div><p class="note">Every field and error: <a href="${escapeHtml(baseUrl)}/docs#createMedia">the reference</a>. Times, limits and privacy: <code>docs/media.md</code>.</p><div class="tabs" role="tablist" aria-labelledby="code-title">${tabs.join("")}</div>${codes.join("")}</section></div>
<section class="box" id="listed" aria-labelledby="listed-title"><h2 id="listed-title" tabindex="-1">Files of the demo</h2><p class="note">A file is kept for 7 days, and until 8 days after the last post that uses it is due. Storing it costs no tokens.</p><div class="trouble"></div><p class="note" id="none" hidden>No files yet.</p><ul class="list" id="files"></ul><button type="button" id="more" hidden>Show more</button></section>
<p class="hidden" role="status" id="said"></p></main>
<dialog aria-labelledby="dialog-title"><h2 id="dialog-title">Delete <span id="doomed"></span>?</h2><p>No new post can use it then. Posts that were accepted with it are still published with it.</p><form method="dialog"><button value="">Keep it</button><button value="delete" class="delete">Delete</button></form></dialog>
<script src="/uploads/page.js"></script>`);
}

const MISSING = document(
  '<main class="single"><p><a href="/">← Sandbox networks</a></p><h1>Uploads</h1><p>This page needs a relay and its demo customer: <code>npm start</code> runs both. If it is starting, reload the page in a moment.</p></main>',
);

/** Calls of the relay that the page may make, in the customer's name. */
const CALLS = [
  "POST /v1/media",
  "GET /v1/media",
  "POST /v1/media/{id}/complete",
  "GET /v1/media/{id}/content",
  "DELETE /v1/media/{id}",
  "POST /v1/posts",
  "GET /v1/posts/{id}",
] as const;

function refusal(status: number, code: string, message: string): Answer {
  return json(status, { error: { code, message } });
}

/** Makes a call of the page with the customer's key, as the customer's own server would. */
async function forward(
  { baseUrl, apiKey, profileId }: UploadingCustomer,
  exchange: Exchange,
): Promise<Answer> {
  const { method, path, query, headers, params, body } = exchange;
  const { origin, host = "" } = headers;
  // Pages of other origins must not use the key.
  if (method !== "GET" && origin !== undefined && origin !== `http://${host}`)
    return refusal(403, "forbidden", "Only the sandbox's own page may do this.");
  if (!/^\w*$/.test(params["id"] ?? "")) return refusal(404, "not_found", "There is no such id.");
  if (body.length > 0 && readObject(exchange) === undefined)
    return refusal(400, "invalid_json", "The body must be a JSON object.");
  const key = headers["idempotency-key"];
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  try {
    const answer = await fetch(`${baseUrl}${path.slice("/uploads".length)}${search}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(CALL_MS_MAX),
      headers: {
        authorization: `Bearer ${apiKey}`,
        "x-profile-id": profileId,
        ...(body.length === 0 ? {} : { "content-type": "application/json" }),
        ...(typeof key === "string" ? { "idempotency-key": key } : {}),
      },
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    const location = answer.headers.get("location");
    const text = await answer.text();
    return {
      status: answer.status,
      headers: {
        "content-type": answer.headers.get("content-type") ?? "application/json",
        "cache-control": "no-store",
        ...(location === null ? {} : { location }),
      },
      body: text,
    };
  } catch {
    return refusal(502, "unreachable", `The relay doesn't answer at ${baseUrl}.`);
  }
}

/** The page on which a developer uploads files of their disk, and the calls that it makes. */
export function uploadRoutes(
  networks: readonly SandboxNetwork[],
  customer: () => UploadingCustomer | undefined,
): readonly Route[] {
  const calls = CALLS.map((call) =>
    route(
      call.replace(" ", " /uploads") as typeof call,
      "sandbox",
      (exchange) => {
        const known = customer();
        return known === undefined
          ? refusal(503, "unreachable", "There is no relay yet.")
          : forward(known, exchange);
      },
      { bodyMax: BODY_MAX },
    ),
  );
  return [
    route("GET /uploads", "sandbox", () => {
      const known = customer();
      if (known === undefined) return htmlPage(404, MISSING);
      const answer = htmlPage(200, page(known, networks));
      return { ...answer, headers: { ...answer.headers, "content-security-policy": POLICY } };
    }),
    route("GET /uploads/page.js", "sandbox", () => ({
      status: 200,
      headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "no-cache" },
      body: readFileSync(SCRIPT),
    })),
    ...calls,
  ];
}
