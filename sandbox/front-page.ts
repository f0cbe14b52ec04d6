import { FAILURE_MODES } from "./faults.ts";
import { ICON, escapeHtml } from "./html.ts";
import type { LogIn, PublishedPost, SandboxNetwork } from "./network.ts";
import { pageStyle } from "./page-style.ts";
import { PUBLIC_ANSWERS } from "./public-answers.ts";
import { postCard } from "./post-card.ts";
import { MEDIA_HOST, SAMPLES } from "./sample-media.ts";

const POSTS_SHOWN = 30;
const REFRESH_SECONDS = 10;

function document(title: string, head: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${ICON}${head}<title>${escapeHtml(title)}</title><style>${pageStyle}</style></head><body>${body}</body></html>`;
}

function feed(network: SandboxNetwork, posts: readonly PublishedPost[]): string {
  const shown = posts.slice(-POSTS_SHOWN).toReversed();
  const cards =
    shown.length === 0
      ? '<p class="nothing">Nothing published yet.</p>'
      : shown.map(postCard).join("");
  const { length } = posts.filter(({ removedAt }) => removedAt === undefined);
  const count = length === 1 ? "1 post" : `${length} posts`;
  return `<section class="feed ${escapeHtml(network.name)}" aria-labelledby="${network.name}"><h2 id="${network.name}">${escapeHtml(network.title)} <span>${count}</span></h2>${cards}</section>`;
}

function listed(logIns: readonly LogIn[]): string {
  const rows = logIns.map(({ label, fields }) => {
    const values = Object.entries(fields).map(
      ([name, value]) => `<span>${escapeHtml(name)} <code>${escapeHtml(value)}</code></span>`,
    );
    return `<dt>${escapeHtml(label)}</dt><dd>${values.join("")}</dd>`;
  });
  return `<dl>${rows.join("")}</dl>`;
}

function logIns(networks: readonly SandboxNetwork[]): string {
  const people = listed(networks.flatMap((network) => network.logIns));
  const apps = listed(networks.flatMap((network) => network.apps ?? []));
  return `<section class="help" id="logins"><h2>Logins</h2>${people}<details><summary>Developer apps, for a relay with settings of its own</summary>${apps}</details></section>`;
}

function magicWords(): string {
  const modes = FAILURE_MODES.map(({ mode, words }) => {
    const rows = words.map(
      ({ word, meaning }) =>
        `<dt><code>${escapeHtml(word)}</code></dt><dd>${escapeHtml(meaning)}</dd>`,
    );
    return `<h3>${escapeHtml(mode)}</h3><dl>${rows.join("")}</dl>`;
  });
  return `<section class="help" id="words"><h2>Magic words</h2><p>Write one into the text of a post or of a first comment, or into the alt text of a file, to see how the relay copes. All networks know them.</p>${modes.join("")}</section>`;
}

function publicAnswers(networks: readonly SandboxNetwork[], origin: string): string {
  const lists = networks.map(({ name, title }) => {
    const rows = PUBLIC_ANSWERS.filter(({ network }) => network === name).map(
      (answer) =>
        `<dt><code>[answer:${escapeHtml(answer.name)}]</code></dt><dd>${escapeHtml(answer.meaning).replace(/`(\w+)`/g, "<code>$1</code>")}</dd>`,
    );
    return `<h3>${escapeHtml(title)}</h3><dl>${rows.join("")}</dl>`;
  });
  return `<section class="help" id="answers"><h2>Errors of the real networks</h2><p>What the networks have answered to other apps, word for word. Write one into the text of a post: from then on its network answers so, or once with <code>[answer:gone-33:1]</code>.</p><p>Calls without a text, such as those of a login, get one as a <em>fault</em>:</p><pre><code>curl -X POST ${escapeHtml(origin)}/_sandbox/faults \\
  -d '{"network": "linkedin", "route": "userinfo", "fault": "answer:app-day"}'</code></pre>${lists.join("")}</section>`;
}

function samples(): string {
  const rows = SAMPLES.map(
    ({ path, what }) =>
      `<dt><a href="/_sandbox/media${path}"><code>${escapeHtml(path)}</code></a></dt><dd>${escapeHtml(what)}</dd>`,
  );
  return `<section class="help" id="samples"><h2>Sample media</h2><p>Under <code>https://${MEDIA_HOST}</code>; a page with a link card is <code>https://links.sandbox.test/article</code>.</p><dl>${rows.join("")}</dl></section>`;
}

/** Everything that was published, and all that a developer needs to publish more. */
export function frontPage(
  networks: readonly SandboxNetwork[],
  posts: readonly PublishedPost[],
  { origin, isStill }: { readonly origin: string; readonly isStill: boolean },
): string {
  const feeds = networks.map((network) =>
    feed(
      network,
      posts.filter((post) => post.network === network.name),
    ),
  );
  return document(
    "Sandbox networks",
    isStill ? "" : `<meta http-equiv="refresh" content="${REFRESH_SECONDS}">`,
    `<header class="top"><h1>Sandbox networks</h1><p>What has been published, as readers see it. Nothing leaves your machine. <a href="/reference">Try calls</a> · <a href="/connect">Connect page</a> · <a href="/uploads">Uploads</a> · <a href="/mailbox">Mailbox</a> · ${isStill ? '<a href="/">Refresh by itself</a>' : '<a href="/?still">Pause</a>'}</p><nav aria-label="On this page"><a href="#posts">Posts</a><a href="#logins">Logins</a><a href="#words">Magic words</a><a href="#answers">Errors of the real networks</a><a href="#samples">Sample media</a></nav></header>
<main><div class="helps first">${logIns(networks)}${magicWords()}</div><div class="feeds" id="posts">${feeds.join("")}</div><div class="helps">${publicAnswers(networks, origin)}${samples()}</div></main>
<footer class="end">As JSON: <a href="/_sandbox/posts">posts</a>, <a href="/_sandbox/removed">removed posts</a>, <a href="/_sandbox/requests">requests</a>, <a href="/_sandbox/faults">faults</a>.</footer>`,
  );
}

export function postPage(post: PublishedPost): string {
  return document(
    `${post.account.displayName}: ${post.text.slice(0, 60)}`,
    "",
    `<main class="single"><h1 class="hidden">A post of ${escapeHtml(post.account.displayName)}</h1><p><a href="/">← Sandbox networks</a></p>${postCard(post)}</main>`,
  );
}
