// A backend that lets its customer link accounts, publishes for them, and hears what became of it.
//
//   npm start
//   node examples/backend.mjs
//
// Then open http://127.0.0.1:3000/. Needs Node 20 and nothing else. The relay and the connect page call the backend at
// BACKEND_URL: a local relay at http://127.0.0.1, a deployed one at a public https address.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const PORT = Number(process.env.BACKEND_PORT ?? 3000);
const PUBLIC_URL = process.env.BACKEND_URL ?? `http://127.0.0.1:${PORT}`;
const BODY_BYTES_MAX = 1024 * 1024;
const ATTEMPTS = 5;

const demoFile = process.env.RELAY_DEMO ?? ".local/demo.json";
const demo = existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, "utf8")) : {};
const RELAY_URL = process.env.RELAY_URL ?? demo.baseUrl;
const RELAY_KEY = process.env.RELAY_KEY ?? demo.apiKey;
if (!RELAY_URL || !RELAY_KEY) {
  console.error("Set RELAY_URL and RELAY_KEY, or run npm start.");
  process.exit(1);
}

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Repeats what may be repeated: a lost answer, a busy server, a limit. Of a POST that makes something: with its key. */
async function relay(method, path, { body, headers = {}, attempts = ATTEMPTS } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === attempts;
    try {
      const answer = await fetch(`${RELAY_URL}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${RELAY_KEY}`,
          "content-type": "application/json",
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      const { data, error } = await answer.json();
      if (answer.ok) return data;
      if (isLast || (answer.status !== 429 && answer.status < 500)) throw new Refused(error);
      await pause(Number(answer.headers.get("retry-after") ?? attempt));
    } catch (problem) {
      if (isLast || problem instanceof Refused) throw problem;
      await pause(attempt);
    }
  }
}

class Refused extends Error {
  constructor(error) {
    super(`${error.code}: ${error.message} (${error.requestId})`);
  }
}

// A real backend keeps all of this in its database: the profile of each customer, the states of visits that are open, the
// posts with their keys, the events that it has seen, and the webhook's secret.
const customer = { id: "customer-1", profileId: "", accounts: [] };
const visits = new Set();
const posts = new Map();
const seenEvents = new Set();
let webhook;

/** One profile per customer, found again by the customer's own id. */
async function openProfile() {
  const [found] = await relay("GET", `/v1/profiles?externalId=${customer.id}`);
  const profile =
    found ??
    (await relay("POST", "/v1/profiles", {
      body: { title: "A customer", externalId: customer.id },
      attempts: 1,
    }));
  customer.profileId = profile.id;
  await readAccounts();
}

async function readAccounts() {
  customer.accounts = await relay("GET", `/v1/profiles/${customer.profileId}/connections`);
}

/** The secret is returned once. A program that has lost it registers a new endpoint and deletes the old one. */
async function registerWebhook() {
  const url = `${PUBLIC_URL}/webhooks`;
  for (const old of await relay("GET", "/v1/webhooks"))
    if (old.url === url) await relay("DELETE", `/v1/webhooks/${old.id}`);
  webhook = await relay("POST", "/v1/webhooks", { body: { url, events: ["*"] }, attempts: 1 });
}

/** Leads the browser to the connect page; the state ties the way back to this visit. */
async function startVisit() {
  const state = randomUUID();
  visits.add(state);
  const { connectUrl } = await relay(
    "POST",
    `/v1/profiles/${customer.profileId}/connect/sessions`,
    {
      body: {
        platforms: ["bluesky", "mastodon"],
        returnUrl: `${PUBLIC_URL}/connected`,
        state,
        branding: { name: "Backend example", accentColor: "#0b6e4f" },
      },
      attempts: 1,
    },
  );
  return { status: 303, headers: { location: connectUrl } };
}

/** Whoever comes back could have made the address up: what was linked is asked of the relay. */
async function endVisit(query) {
  if (!visits.delete(query.get("state"))) return { status: 400, body: "This visit is not known." };
  const session = await relay("GET", `/v1/connect/sessions/${query.get("session")}`);
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
  const accepted = await relay("POST", "/v1/posts", {
    headers: { "x-profile-id": customer.profileId, "idempotency-key": key },
    body: { text: form.get("text"), platforms, externalId: key },
  }).catch((problem) => {
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

function isFromRelay(body, header = "") {
  const parts = header.split(",").map((part) => part.split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) return false;
  const key = Buffer.from(webhook.secret.replace("whsec_", ""), "base64");
  const wanted = createHmac("sha256", key).update(`${time}.`).update(body).digest();
  return parts
    .filter(([name]) => name === "v1")
    .map(([, hex = ""]) => Buffer.from(hex, "hex"))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
}

/** Signed over the bytes as they came; each event may come more than once, and in any order. */
async function receiveEvent(body, header) {
  if (webhook === undefined || !isFromRelay(body, header)) return { status: 401 };
  const event = JSON.parse(body);
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
      ({ platform, url, error }) => `${platform} ${escape(url ?? error?.message ?? "…")}`,
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
      return receiveEvent(body, request.headers["x-social-restapi-signature"]);
    default:
      return { status: 404, body: "There is no such page." };
  }
}

const server = createServer((request, response) => {
  answer(request)
    .catch((problem) => {
      console.error(problem.message);
      return { status: problem instanceof Refused ? 502 : 500, body: "That did not work." };
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
