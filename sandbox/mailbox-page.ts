import { htmlPage, json, Refusal } from "./exchange.ts";
import type { Answer } from "./exchange.ts";
import { ICON, escapeHtml, safeHref } from "./html.ts";
import type { Mailbox, ReadMail } from "./mailbox.ts";
import { route, type Route } from "./network.ts";
import { pageStyle } from "./page-style.ts";

const style = `${pageStyle}
.mails{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);border-radius:14px;overflow:clip}
.mails li+li{border-top:1px solid var(--line)}
.mails a{display:grid;gap:0 1rem;padding:.7rem 1.1rem;color:inherit;text-decoration:none}
.mails a:hover b{text-decoration:underline}
.mails small,.facts dt{color:var(--soft)}
.mail{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1rem 1.1rem}
.mail h1{font-size:1.25rem;margin:0 0 .6rem}
.mail h2{font-size:.9rem;margin:1.25rem 0 .4rem;color:var(--soft);font-weight:600}
.facts{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.1rem .8rem;margin:0;font-size:.9rem}
.facts dd,.single>p,.single>h1{margin:0}.single>h1{font-size:1.6rem;letter-spacing:-.01em}.single{gap:1rem}
.mail iframe{display:block;width:100%;height:46rem;border:1px solid var(--line);border-radius:10px;background:Canvas}
.mail pre{margin:0;white-space:pre-wrap;font:.85rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;background:var(--code);border-radius:10px;padding:.8rem .9rem}
.mail summary{cursor:pointer;margin-top:1rem;color:var(--soft)}
@media (min-width:40rem){.mails a{grid-template-columns:minmax(0,1fr) auto}}`;

function page(title: string, body: string): Answer {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${ICON}`;
  return htmlPage(
    200,
    `<!doctype html><html lang="en"><head>${head}<title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`,
  );
}

/** Every mail that was sent, the latest first. */
function listPage(mails: readonly ReadMail[]): Answer {
  const rows = mails.toReversed().map(({ id, subject, to, at }) => {
    const time = `<small>${escapeHtml(at.slice(11, 19))} UTC</small>`;
    return `<li><a href="/mailbox/${id}"><span><b>${escapeHtml(subject)}</b><br><small>to ${escapeHtml(to.join(", "))}</small></span>${time}</a></li>`;
  });
  const list =
    rows.length === 0
      ? '<p class="nothing">No mail yet. Sign up, or ask for a new password.</p>'
      : `<ul class="mails">${rows.join("")}</ul>`;
  return page(
    "Mailbox",
    `<main class="single"><p><a href="/">← Sandbox networks</a></p><h1>Mailbox</h1><p>Every mail that the relay sent here. None leaves your machine.</p>${list}</main>`,
  );
}

/** Turns the addresses of a text part into links. */
function linked(text: string): string {
  return text
    .split(/(https?:\/\/\S+)/)
    .map((part) => {
      const href = safeHref(part);
      const shown = escapeHtml(part);
      return href === undefined ? shown : `<a href="${shown}" rel="noreferrer">${shown}</a>`;
    })
    .join("");
}

/** One mail: its HTML part in a frame that runs nothing, its text part, and its headers. */
function mailPage(mail: ReadMail): Answer {
  const { id, subject, from, to, at, text, headers } = mail;
  const fact = (name: string, value: string) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`;
  const facts = [fact("From", from), fact("To", to.join(", ")), fact("Sent", at)].join("");
  const answer = page(
    subject,
    `<main class="single"><p><a href="/mailbox">← Mailbox</a></p><article class="mail"><h1>${escapeHtml(subject)}</h1><dl class="facts">${facts}</dl>
<h2>HTML part</h2><iframe title="HTML part" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/mailbox/${id}/html"></iframe>
<h2>Text part</h2><pre>${linked(text)}</pre>
<details><summary>Headers</summary><pre>${escapeHtml(headers.join("\n"))}</pre></details></article></main>`,
  );
  const policy = `${answer.headers?.["content-security-policy"] ?? ""}; frame-src 'self'`;
  return { ...answer, headers: { ...answer.headers, "content-security-policy": policy } };
}

/** The HTML part alone, which may run and load nothing. Its links open outside of the frame. */
function htmlPart({ html }: ReadMail): Answer {
  const answer = htmlPage(200, `<base target="_blank">${html}`);
  const policy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";
  return { ...answer, headers: { ...answer.headers, "content-security-policy": policy } };
}

/** The pages of the mailbox, and its mails as JSON for tests and other programs. */
export function mailboxRoutes(mailbox: Mailbox): readonly Route[] {
  const found = async (id = ""): Promise<ReadMail> => {
    const mail = await mailbox.find(id);
    if (mail === undefined) throw new Refusal(json(404, { error: "there is no such mail" }));
    return mail;
  };
  return [
    route("GET /mailbox", "sandbox", async () => listPage(await mailbox.list())),
    route("GET /mailbox/{id}", "sandbox", async ({ params }) =>
      mailPage(await found(params["id"])),
    ),
    route("GET /mailbox/{id}/html", "sandbox", async ({ params }) =>
      htmlPart(await found(params["id"])),
    ),
    route("GET /_sandbox/mails", "sandbox", async ({ query }) =>
      json(200, { mails: await mailbox.list(query.get("to") ?? undefined) }),
    ),
  ];
}
