// A page on which a team plans its posts: it checks, schedules, cancels, and shows how each post ended.
//
//   npm start
//   node examples/planner.mjs
//
// Then open http://localhost:3001/. Needs Node 20 and the client, which `npm ci` links. The relay calls the planner at
// PLANNER_URL: a local relay at http://localhost, a deployed one at a public https address.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import {
  isRelayError,
  RelayClient,
  RelayWebhookError,
  verifyWebhook,
} from "publishing-relay-client";

const PORT = Number(process.env.PLANNER_PORT ?? 3001);
const PUBLIC_URL = process.env.PLANNER_URL ?? `http://localhost:${PORT}`;
const NETWORKS = ["facebook", "instagram", "linkedin", "bluesky", "mastodon"];
const BODY_BYTES_MAX = 256 * 1024;
const POSTS_SHOWN = 30;

const demoFile = process.env.RELAY_DEMO ?? ".local/demo.json";
const demo = existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, "utf8")) : {};
const profileId = process.env.RELAY_PROFILE ?? demo.profileId;
const relay = new RelayClient({
  baseUrl: process.env.RELAY_URL ?? demo.baseUrl ?? "",
  key: process.env.RELAY_KEY ?? demo.apiKey,
  profileId,
});
// Posts of a local run aren't at the networks' addresses: the sandbox shows them.
const sandboxUrl = process.env.RELAY_URL === undefined ? demo.sandboxUrl : undefined;

// The relay has the posts. These are those that are shown, and the pages that wait for news of them.
const posts = new Map();
const watchers = new Set();
let secret;

/** A late event doesn't undo a newer one. */
function show(post) {
  const known = posts.get(post.id);
  if (known !== undefined && known.updatedAt > post.updatedAt) return;
  posts.set(post.id, post);
  for (const watcher of watchers) watcher.write("data: changed\n\n");
}

async function readPosts() {
  for await (const post of relay.listPosts({ status: "scheduled" })) posts.set(post.id, post);
  let others = 0;
  for await (const post of relay.listPosts()) {
    posts.set(post.id, post);
    if ((others += 1) === POSTS_SHOWN) break;
  }
}

/** The secret is returned once. A planner that starts again creates a new endpoint and deletes the old one. */
async function registerWebhook() {
  const url = `${PUBLIC_URL}/webhooks`;
  for await (const old of relay.listWebhooks())
    if (old.url === url) await relay.deleteWebhook({ webhookId: old.id });
  const events = ["post.scheduled", "post.updated", "post.processing", "post.canceled"];
  const ends = ["post.succeeded", "post.partial", "post.failed"];
  ({ secret } = await relay.createWebhook({ url, events: [...events, ...ends] }));
}

/**
 * Checks the post first, so that a network that can't publish it is reported while the text can still be changed. The key
 * comes from the form: sent twice, it is one post.
 */
async function plan(form) {
  const when = form.get("when");
  const post = {
    text: form.get("text"),
    platforms: form.getAll("platforms"),
    ...(form.get("picture") ? { mediaUrls: [form.get("picture")] } : {}),
    ...(when ? { scheduleAt: when } : {}),
  };
  if (post.platforms.length === 0) return page("Choose a network.", form);
  try {
    const checked = await relay.validatePost(post);
    const problems = Object.values(checked.platforms).flatMap(({ errors }) => errors);
    if (problems.length > 0)
      return page(
        problems.map(({ message, remediation }) => `${message} ${remediation}`),
        form,
      );
    show(await relay.createPost({ ...post, idempotencyKey: form.get("key") }));
  } catch (error) {
    if (isRelayError(error, "validation_failed"))
      return page(
        // These messages are for programs: they name fields. Answer for the fields of this form in its own words.
        error.details.issues.map(({ path, message }) => {
          if (path === "scheduleAt")
            return "Choose a time within the next year, or leave it empty to publish now.";
          return path.startsWith("mediaUrls") ? "The picture needs an https address." : message;
        }),
        form,
      );
    if (isRelayError(error, "insufficient_tokens"))
      return page(
        `The post costs ${error.details.required} tokens; ${error.details.available} are left.`,
        form,
      );
    throw error;
  }
  return { status: 303, headers: { location: "/" } };
}

/** Leads to the connect page, which leads back here. */
async function connect() {
  const { connectUrl } = await relay.createConnectSession({
    profileId,
    platforms: NETWORKS,
    returnUrl: `${PUBLIC_URL}/`,
    branding: { name: "Planner" },
  });
  return { status: 303, headers: { location: connectUrl } };
}

async function cancel(postId) {
  try {
    await relay.cancelPost({ postId });
  } catch (error) {
    if (!isRelayError(error, "invalid_state")) throw error;
    // It started a moment ago, or another page canceled it: below it is shown as it is.
  }
  show(await relay.getPost({ postId }));
  return { status: 303, headers: { location: "/" } };
}

/** An event may come twice or late: `show` keeps the newest state, so both are harmless. */
async function receive(headers, body) {
  if (secret === undefined) return { status: 503 };
  try {
    const { type, data } = await verifyWebhook(headers, body, secret);
    console.log(type);
    if (data.post !== undefined) show(data.post);
    return { status: 204 };
  } catch (error) {
    if (!(error instanceof RelayWebhookError)) throw error;
    return { status: 401 };
  }
}

const escape = (text) => String(text).replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

function itemOf({ id, text, status, scheduleAt, legs }) {
  // Messages are sentences, so each network gets a line.
  const ends = legs.map(({ platform, url, error }) =>
    url === null
      ? `${platform}: ${error === null ? "…" : escape(`${error.message} ${error.remediation}`)}`
      : `<a href="${escape(sandboxUrl === undefined ? url : `${sandboxUrl}/#${platform}`)}">${platform}</a>`,
  );
  const button = `<form method="post" action="/posts/${id}/cancel"><button>Cancel</button></form>`;
  const isScheduled = status === "scheduled";
  return `<li><b>${status}</b> ${isScheduled ? `<time>${scheduleAt}</time>` : ends.join("<br>")}
<p>${escape(text)}</p>${isScheduled ? button : ""}</li>`;
}

function listOfPosts() {
  const scheduled = [...posts.values()].filter(({ status }) => status === "scheduled");
  const others = [...posts.values()].filter(({ status }) => status !== "scheduled");
  scheduled.sort((one, other) => (one.scheduleAt < other.scheduleAt ? -1 : 1));
  others.sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
  return [...scheduled, ...others.slice(0, POSTS_SHOWN)].map(itemOf).join("");
}

/** The page, with what was wrong with a form and what was written into it. */
function page(problems = [], form = new URLSearchParams()) {
  const chosen = form.getAll("platforms");
  const boxes = NETWORKS.map(
    (name) =>
      `<label><input type="checkbox" name="platforms" value="${name}"${chosen.includes(name) ? " checked" : ""}> ${name}</label>`,
  );
  const found = [problems].flat().map((problem) => `<li>${escape(problem)}</li>`);
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Planner</title>
<style>body{font:1rem/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem}textarea{width:100%}[role=alert]{color:#a00}</style>
<h1>Planner</h1><ul role="alert">${found.join("")}</ul>
<form method="post" action="/posts">
<input type="hidden" name="key" value="${randomUUID()}"><input type="hidden" name="when">
<p><label>Text <textarea name="text" rows="4" required>${escape(form.get("text") ?? "")}</textarea></label></p>
<p><label>Address of a picture, without which Instagram takes no post <input type="url" name="picture" value="${escape(form.get("picture") ?? "")}"></label></p>
<p>${boxes.join(" ")}</p>
<p><label>When (now, if empty) <input type="datetime-local" id="at"></label> <button>Plan</button></p>
</form><form method="post" action="/connect"><button>Link accounts</button></form><ul id="posts">${listOfPosts()}</ul>
<script>
  // The relay expects instants. What "nine o'clock" means is known here, where the person is.
  document.forms[0].onsubmit = ({ target }) => {
    if (at.value) target.elements.when.value = new Date(at.value).toISOString();
  };
  const showTimes = () => {
    for (const time of document.querySelectorAll("time")) time.textContent = new Date(time.textContent).toLocaleString();
  };
  new EventSource("/changes").onmessage = async () => {
    posts.innerHTML = await (await fetch("/posts")).text();
    showTimes();
  };
  showTimes();
</script>`;
  const status = found.length > 0 ? 422 : 200;
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error("the body is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answer(request) {
  const { pathname } = new URL(request.url, PUBLIC_URL);
  const body = await readBody(request);
  const [, postId] = /^\/posts\/(pst_\w+)\/cancel$/.exec(pathname) ?? [];
  if (request.method === "POST") {
    if (pathname === "/webhooks") return receive(request.headers, body);
    // A page of another site can send a form, too, and says where it comes from.
    if (request.headers["sec-fetch-site"] === "cross-site") return { status: 403 };
    if (pathname === "/connect") return connect();
    if (pathname === "/posts") return plan(new URLSearchParams(body.toString()));
    if (postId !== undefined) return cancel(postId);
  } else if (pathname === "/") return page();
  else if (pathname === "/posts")
    return {
      status: 200,
      headers: { "content-type": "text/html; charset=utf-8" },
      body: listOfPosts(),
    };
  return { status: 404, body: "There is no such page." };
}

function watch(request, response) {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  watchers.add(response);
  request.on("close", () => watchers.delete(response));
}

const server = createServer((request, response) => {
  if (request.url === "/changes") return watch(request, response);
  void answer(request)
    .catch((problem) => {
      console.error(problem.message);
      return { status: 502, body: "That did not work." };
    })
    .then(({ status, headers = {}, body = "" }) => response.writeHead(status, headers).end(body));
});

await readPosts();
server.listen(PORT, "127.0.0.1", async () => {
  await registerWebhook();
  console.log(`Open http://localhost:${PORT}/`);
});
