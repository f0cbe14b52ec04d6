import { escapeHtml } from "../html.ts";
import type { Account, App } from "./state.ts";

const STYLE = `
:root{color-scheme:light dark;--back:#eceef4;--card:#fff;--text:#1b1c2b;--soft:#5d6075;--line:#d9dbe8;--brand:#5b4bdb;--press:#fff}
@media (prefers-color-scheme:dark){:root{--back:#14151f;--card:#1f2130;--text:#eceef8;--soft:#a3a7bf;--line:#34374c;--brand:#8b80ff;--press:#12131c}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.25rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{width:100%;max-width:26rem;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.75rem;overflow-wrap:anywhere}
h1{font-size:1.3rem;line-height:1.3;margin:.25rem 0 1rem}
p{margin:.5rem 0}
.host{color:var(--soft);font-size:.9rem}
.note{color:var(--soft);font-size:.85rem;margin-top:1.25rem}
fieldset{border:0;padding:0;margin:1rem 0}
legend{padding:0;font-weight:600;margin-bottom:.4rem}
label{display:flex;gap:.7rem;align-items:center;padding:.65rem .8rem;border:1px solid var(--line);border-radius:10px;margin-bottom:.5rem;cursor:pointer}
label:has(:checked){border-color:var(--brand)}
label small{display:block;color:var(--soft)}
ul{margin:.25rem 0 1rem;padding-left:1.2rem}
.buttons{display:flex;gap:.75rem;margin-top:1.25rem}
button{flex:1;font:inherit;font-weight:600;padding:.7rem 1rem;border-radius:10px;border:1px solid var(--line);background:none;color:var(--text);cursor:pointer}
button.main{background:var(--brand);border-color:var(--brand);color:var(--press)}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
code{user-select:all}
`;

const SCOPE_WORDS: Readonly<Record<string, string>> = {
  read: "Read all your account's data",
  "read:accounts": "See account information",
  "read:search": "Search on your behalf",
  "read:statuses": "See all posts",
  write: "Modify all your account's data",
  "write:media": "Upload media files",
  "write:statuses": "Publish posts",
  profile: "Read only your account's profile information",
};

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`;
}

function accountChoice(account: Account, index: number): string {
  return `<label><input type="radio" name="account" value="${escapeHtml(account.id)}"${index === 0 ? " checked" : ""}><span>${escapeHtml(account.displayName)}<small>@${escapeHtml(account.username)}@${escapeHtml(account.host)}</small></span></label>`;
}

/** Asks the account's owner. The form goes back to where it came from, so the request stays in the address. */
export function authorizePage(ask: {
  readonly app: App;
  readonly scopes: readonly string[];
  readonly accounts: readonly Account[];
  readonly action: string;
}): string {
  const { app, scopes, accounts, action } = ask;
  const rights = scopes.map((scope) => `<li>${escapeHtml(SCOPE_WORDS[scope] ?? scope)}</li>`);
  return page(
    `Authorize ${app.name}?`,
    `<p class="host">${escapeHtml(app.host)}</p><h1>Authorize ${escapeHtml(app.name)}?</h1>
<p>It would like to:</p><ul>${rights.join("")}</ul>
<form method="post" action="${escapeHtml(action)}"><fieldset><legend>As which account?</legend>${accounts.map(accountChoice).join("")}</fieldset>
<div class="buttons"><button class="main" name="decision" value="allow">Authorize</button><button name="decision" value="deny">Deny</button></div></form>
<p class="note">This is a sandbox: nothing leaves your machine.</p>`,
  );
}

export function errorPage(message: string): string {
  return page(
    "An error has occurred",
    `<h1>An error has occurred</h1><p>${escapeHtml(message)}</p>`,
  );
}

/** For clients without an address to be sent back to. */
export function codePage(code: string): string {
  return page(
    "Authorization code",
    `<h1>Copy this authorization code</h1><p><code>${escapeHtml(code)}</code></p>`,
  );
}
