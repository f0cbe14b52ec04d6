// A backend that lets its customer link accounts, publishes for them, and hears what became of it.
//
//   npm start
//   node examples/backend.mjs
//
// Then open http://127.0.0.1:3000/. Needs Node 20 and the client, which `npm ci` links. The relay and the connect page
// call the backend at BACKEND_URL: a local relay at http://127.0.0.1, a deployed one at a public https address.
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import {
  RelayClient,
  RelayConnectionError,
  RelayError,
  RelayWebhookError,
  verifyWebhook,
} from "publishing-relay-client";

const PORT = Number(process.env.BACKEND_PORT ?? 3000);
const PUBLIC_URL = process.env.BACKEND_URL ?? `http://127.0.0.1:${PORT}`;
const BODY_BYTES_MAX = 1024 * 1024;

const demoFile = process.env.RELAY_DEMO ?? ".local/demo.json";
const demo = existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, "utf8")) : {};
const RELAY_URL = process.env.RELAY_URL ?? demo.baseUrl;
const RELAY_KEY = process.env.RELAY_KEY ?? demo.apiKey;
if (!RELAY_URL || !RELAY_KEY) {
  console.error("Set RELAY_URL and RELAY_KEY, or run npm start.");
  process.exit(1);
}

// The client repeats what may be repeated: a lost answer, a busy server, a limit.
const relay = new RelayClient({ baseUrl: RELAY_URL, key: RELAY_KEY });

// A real backend keeps all of this in its database: the profile of each customer, the states of visits that are open, the
// posts with their keys, the events that it has seen, and the webhook's secret.
const customer = { id: "customer-1", profileId: "", accounts: [] };
const visits = new Set();
const posts = new Map();
const seenEvents = new Set();
let webhook;

/** One profile per customer, found again by the customer's own id. */
async function openProfile() {
  let profile;
  for await (const found of relay.listProfiles({ externalId: customer.id })) profile = found;
  profile ??= await relay.createProfile({ title: "A customer", externalId: customer.id });
  customer.profileId = profile.id;
  await readAccounts();
}

async function readAccounts() {
  const accounts = [];
  for await (const account of relay.listConnections({ profileId: customer.profileId }))
    accounts.push(account);
  customer.accounts = accounts;
}

/** The secret is returned once. A program that has lost it registers a new endpoint and deletes the old one. */
async function registerWebhook() {
  const url = `${PUBLIC_URL}/webhooks`;
  for await (const old of relay.listWebhooks())
    if (old.url === url) await relay.deleteWebhook({ webhookId: old.id });
  webhook = await relay.createWebhook({ url, events: ["*"] });
}

/** Leads the browser to the connect page; the state ties the way back to this visit. */
async function startVisit() {
  const state = randomUUID();
  visits.add(state);
  const { connectUrl } = await relay.createConnectSession({
    profileId: customer.profileId,
    platforms: ["bluesky", "mastodon"],
    returnUrl: `${PUBLIC_URL}/connected`,
    state,
    branding: { name: "Backend example", accentColor: "#0b6e4f" },
  });
  return { status: 303, headers: { location: connectUrl } };
}

/** Whoever comes back could have made the address up: what was linked is asked of the relay. */
async function endVisit(query) {
  if (!visits.delete(query.get("state"))) return { status: 400, body: "This visit is not known." };
  const session = await relay.getConnectSession({ sessionId: query.get("session") ?? "-" });
  if (session.profileId !== customer.profileId) return { status: 400, body: "Not this customer." };
  await readAccounts();
  return { status: 303, headers: { location: "/" } };
}

/** The key is stored before the request is made: after a crash the same post is asked for again, and published once. */
async function publish(form) {
  const platforms = customer.accounts
    .filter(({ status }) => status === "active")
    .map(({ platform }) => platform);
  if (platforms.length === 0) return { status: 409, body: "Link an account first." };
  const key = randomUUID();
  posts.set(key, { text: form.get("text"), status: "sending", legs: [] });
  const accepted = await relay
    .createPost({
      profileId: customer.profileId,
      idempotencyKey: key,
      text: form.get("text"),
      platforms,
      externalId: key,
    })
    .catch((problem) => {
      // It stays on the list: where the answer is what got lost, an event still tells of the post.
      posts.get(key).status = "not accepted";
      throw problem;
    });
  take(accepted);
  return { status: 303, headers: { location: "/" } };
}

/** A late event does not undo a newer one. */
function take(post) {
  const known = posts.get(post.externalId);
  if (known === undefined || (known.updatedAt ?? "") > post.updatedAt) return;
  posts.set(post.externalId, post);
}

/** Signed over the bytes as they came; each event may come more than once, and in any order. */
async function receiveEvent(body, headers) {
  if (webhook === undefined) return { status: 401 };
  let event;
  try {
    event = await verifyWebhook(headers, body, webhook.secret);
  } catch (problem) {
    if (problem instanceof RelayWebhookError) return { status: 401 };
    throw problem;
  }
  if (seenEvents.has(event.id)) return { status: 200 };
  seenEvents.add(event.id);
  console.log(event.type);
  if (event.type.startsWith("post.")) take(event.data.post);
  // Answer first, work later: the relay waits for ten seconds.
  if (event.type.startsWith("connection.")) readAccounts().catch(console.error);
  return { status: 200 };
}

const escape = (text) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

function page() {
  const accounts = customer.accounts.map(
    ({ platform, account, status }) => `<li>${platform}: ${escape(account.username)}, ${status}`,
  );
  const shown = [...posts.values()].map(({ text, status, legs }) => {
    const ends = legs.map(
      ({ platform, url, error }) =>
        `${platform} ${escape(url ?? (error === null ? "…" : `${error.message} ${error.remediation}`))}`,
    );
    return `<li>${escape(text)}: <b>${status}</b> ${ends.join(", ")}`;
  });
  const body = `<!doctype html><title>Backend example</title><h1>Accounts</h1><ul>${accounts.join("")}</ul>
<form method="post" action="/connect"><button>Link accounts</button></form>
<h1>Posts</h1><form method="post" action="/posts"><input name="text" required><button>Publish</button></form><ul>${shown.join("")}</ul>`;
  return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body };
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
  const { pathname, searchParams } = new URL(request.url, PUBLIC_URL);
  const body = await readBody(request);
  switch (`${request.method} ${pathname}`) {
    case "GET /":
      return page();
    case "POST /connect":
      return startVisit();
    case "GET /connected":
      return endVisit(searchParams);
    case "POST /posts":
      return publish(new URLSearchParams(body.toString()));
    case "POST /webhooks":
      return receiveEvent(body, request.headers);
    default:
      return { status: 404, body: "There is no such page." };
  }
}

const server = createServer((request, response) => {
  answer(request)
    .catch((problem) => {
      console.error(problem.message);
      const isOfRelay = problem instanceof RelayError || problem instanceof RelayConnectionError;
      return { status: isOfRelay ? 502 : 500, body: "That did not work." };
    })
    .then(({ status, headers = {}, body = "" }) => response.writeHead(status, headers).end(body));
});

try {
  await openProfile();
  await registerWebhook();
  server.listen(PORT, "127.0.0.1", () => console.log(`Open http://127.0.0.1:${PORT}/`));
} catch (problem) {
  console.error(`The relay at ${RELAY_URL} did not do it: ${problem.message}`);
  process.exitCode = 1;
}
