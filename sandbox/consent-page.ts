import { ICON, escapeHtml } from "./html.ts";

const STYLE = `
:root{color-scheme:light dark;--back:#eef0f5;--card:#fff;--text:#1a1c27;--soft:#5b6072;--line:#d8dbe6;--press:#fff;--facebook:#1464d2;--instagram:#c2226f;--linkedin:#0a66c2;--bluesky:#0a5fd1;--mastodon:#5b4bdb}
@media (prefers-color-scheme:dark){:root{--back:#11131a;--card:#1c1f2b;--text:#eaecf5;--soft:#a2a7bb;--line:#333849;--press:#0d0f16;--facebook:#6aa9ff;--instagram:#ff7ab5;--linkedin:#74b7f5;--bluesky:#6fb3ff;--mastodon:#8b80ff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.25rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
body.facebook{--brand:var(--facebook)}body.instagram{--brand:var(--instagram)}body.linkedin{--brand:var(--linkedin)}body.bluesky{--brand:var(--bluesky)}body.mastodon{--brand:var(--mastodon)}
main{width:100%;max-width:28rem;background:var(--card);border:1px solid var(--line);border-top:4px solid var(--brand);border-radius:12px;padding:1.6rem;overflow-wrap:anywhere}
h1{font-size:1.25rem;line-height:1.3;margin:.2rem 0 .8rem}
p{margin:.5rem 0}
ul{margin:.25rem 0 1rem;padding-left:1.2rem}
.host,.note{color:var(--soft);font-size:.88rem}
.note{margin-top:1.2rem}
fieldset{border:0;padding:0;margin:1.1rem 0}
legend{padding:0;font-weight:600;margin-bottom:.4rem}
label{display:flex;gap:.7rem;align-items:center;padding:.55rem .75rem;border:1px solid var(--line);border-radius:9px;margin-bottom:.45rem;cursor:pointer}
label:has(:checked){border-color:var(--brand)}
label small{display:block;color:var(--soft);line-height:1.35}
input{accent-color:var(--brand)}
.buttons{display:flex;flex-wrap:wrap;gap:.7rem;margin-top:1.2rem}
button{flex:1 1 auto;font:inherit;font-weight:600;padding:.65rem 1rem;border-radius:9px;border:1px solid var(--line);background:none;color:var(--text);cursor:pointer}
button.main{background:var(--brand);border-color:var(--brand);color:var(--press)}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
`;

export interface Choice {
  readonly kind: "radio" | "checkbox";
  /** Every checkbox has a name of its own: a form is then a plain map of names. */
  readonly name: string;
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
}

/** A box for every permission, ticked from the start. */
export const rights = (
  permissions: readonly string[],
  words: (permission: string) => string,
): Choice[] =>
  permissions.map((name) => ({
    kind: "checkbox",
    name: `may_${name}`,
    value: "yes",
    label: words(name),
    hint: name,
    checked: true,
  }));

export interface ConsentQuestion {
  readonly network: string;
  readonly host: string;
  readonly title: string;
  /** What the app asks for, where nothing of it can be declined. */
  readonly wishes?: readonly string[];
  readonly groups: readonly { readonly legend: string; readonly choices: readonly Choice[] }[];
  /** Where the form goes: back to the page's own address, so that the request stays in it. */
  readonly action: string;
  /** The first one agrees. */
  readonly buttons: readonly { readonly value: string; readonly label: string }[];
}

function page(network: string, title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${ICON}<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body class="${escapeHtml(network)}"><main>${body}</main></body></html>`;
}

function choiceHtml({ kind, name, value, label, hint, checked }: Choice): string {
  const small = hint === undefined ? "" : `<small>${escapeHtml(hint)}</small>`;
  return `<label><input type="${kind}" name="${escapeHtml(name)}" value="${escapeHtml(value)}"${checked ? " checked" : ""}><span>${escapeHtml(label)}${small}</span></label>`;
}

/** Asks the account's owner. Everything is allowed from the start; `asked` tells a form from a bare decision. */
export function consentPage(question: ConsentQuestion): string {
  const groups = question.groups
    .filter(({ choices }) => choices.length > 0)
    .map(
      ({ legend, choices }) =>
        `<fieldset><legend>${escapeHtml(legend)}</legend>${choices.map(choiceHtml).join("")}</fieldset>`,
    );
  const buttons = question.buttons.map(
    ({ value, label }, index) =>
      `<button${index === 0 ? ' class="main"' : ""} name="decision" value="${escapeHtml(value)}">${escapeHtml(label)}</button>`,
  );
  const wishes = (question.wishes ?? []).map((wish) => `<li>${escapeHtml(wish)}</li>`);
  const list = wishes.length === 0 ? "" : `<p>It would like to:</p><ul>${wishes.join("")}</ul>`;
  return page(
    question.network,
    question.title,
    `<p class="host">${escapeHtml(question.host)}</p><h1>${escapeHtml(question.title)}</h1>${list}
<form method="post" action="${escapeHtml(question.action)}"><input type="hidden" name="asked" value="yes">${groups.join("")}
<div class="buttons">${buttons.join("")}</div></form>
<p class="note">This is a sandbox: nothing leaves your machine.</p>`,
  );
}

/** A dead end: the request is not one that may be sent back to the app. */
export function consentErrorPage(network: string, title: string, message: string): string {
  return page(
    network,
    title,
    `<h1>${escapeHtml(title)}</h1><p role="alert">${escapeHtml(message)}</p>`,
  );
}
