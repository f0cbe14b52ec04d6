import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bluesky } from "../../../src/shared/networks/bluesky/index.ts";
import { mastodon } from "../../../src/shared/networks/mastodon/index.ts";
import type { LinkedAccount } from "../../../src/shared/networks/contract/link.ts";
import type { Network } from "../../../src/shared/networks/contract/network.ts";
import { HttpFailure, type HttpRequest } from "../../../src/shared/runtime/http-call.ts";
import { followUpOf } from "../../networks/follow-ups.ts";
import { walkFollowUp } from "../../networks/follow-up-walk.ts";
import {
  publishedBy,
  type SandboxTools,
  sandboxTools,
  walkLeg,
} from "../../networks/sandbox-leg.ts";
import { PDS_START_MS_MAX, startPds } from "./pds.ts";
import { snacRemoves, startSnac } from "./snac.ts";

const COLLECTION = "app.bsky.feed.post";
const HOST = "snac.sandbox.test";
const REDIRECT = "https://relay.example/callback";

/** A real server with an account on it. */
interface Peer {
  readonly network: Network;
  readonly url: string;
  readonly linked: LinkedAccount;
  /** Returns whether a request is the removal. */
  readonly isRemoval: (request: HttpRequest) => boolean;
  /** Returns whether the server has a post with these words under this id. */
  readonly isThere: (id: string, words: string) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

function linkedAs(id: string, url: string, credentials: LinkedAccount["credentials"]) {
  const names = { username: "remover", displayName: "", avatarUrl: null, url: "", kind: "person" };
  const account = { id, ...names };
  return { account, credentials, instanceUrl: url, scopes: [], limits: {}, expiresAt: null };
}

async function aPds(): Promise<Peer> {
  const pds = await startPds({ hostname: "localhost" });
  const { did, password, handle } = await pds.createAccount("remover.test");
  const input = { identifier: handle, password };
  const { body } = await pds.xrpc("com.atproto.server.createSession", { input });
  const credentials = {
    did,
    pds: pds.url,
    service: pds.url,
    accessJwt: String(body["accessJwt"]),
    refreshJwt: String(body["refreshJwt"]),
    accessExpiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  };
  return {
    network: bluesky,
    url: pds.url,
    linked: linkedAs(did, pds.url, credentials),
    isRemoval: ({ url }) => url.endsWith("deleteRecord"),
    async isThere(uri) {
      const rkey = uri.slice(uri.lastIndexOf("/") + 1);
      const query = { repo: did, collection: COLLECTION, rkey };
      return (await pds.xrpc("com.atproto.repo.getRecord", { query })).status === 200;
    },
    stop: () => pds.stop(),
  };
}

async function aSnac(): Promise<Peer> {
  const snac = await startSnac(HOST);
  const call = async (path: string, form?: Readonly<Record<string, string>>) =>
    fetch(snac.url + path, {
      redirect: "manual",
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
    });
  const scopes = "read write";
  const asked = { client_name: "Relay", redirect_uris: REDIRECT, scopes };
  const app = (await (await call("/api/v1/apps", asked)).json()) as Record<string, string>;
  const { client_id = "", client_secret = "" } = app;
  const client = { client_id, redirect_uri: REDIRECT };
  const query = new URLSearchParams({ ...client, response_type: "code", scope: scopes });
  const page = await (await call(`/oauth/authorize?${query.toString()}`)).text();
  const field = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "";
  const signedIn = await call("/oauth/x-snac-login", {
    login: snac.user,
    passwd: snac.password,
    redir: field("redir"),
    cid: field("cid"),
    state: field("state"),
  });
  const code = new URL(signedIn.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const grant = { grant_type: "authorization_code", code, client_secret, ...client };
  const token = (await (await call("/oauth/token", grant)).json()) as Record<string, string>;
  const credentials = {
    origin: snac.url,
    accessToken: token["access_token"],
    clientId: client_id,
    clientSecret: client_secret,
    software: "snac",
  };
  return {
    network: mastodon,
    url: snac.url,
    linked: linkedAs(`${HOST}/1`, snac.url, credentials),
    isRemoval: ({ method, url }) => method === "DELETE" && url.includes("/api/v1/statuses/"),
    isThere: async (_id, words) => (await snac.postsWith(words)).length > 0,
    stop: () => snac.stop(),
  };
}

interface Lost {
  readonly what: "request" | "answer";
  left: number;
}

/** Tools that dial the server itself, and lose as many requests or answers of a removal as they are told to. */
function toolsFor({ url, isRemoval }: Peer, lost: Lost): SandboxTools {
  // Nothing of the sandbox is dialled: the clock alone is its own.
  const tools = sandboxTools({ url, advance: () => undefined } as never);
  return {
    ...tools,
    async http(request) {
      const isHit = lost.left > 0 && isRemoval(request);
      if (isHit) lost.left -= 1;
      if (isHit && lost.what === "request") throw new HttpFailure("in_doubt", "connection_lost");
      const answer = await tools.http(request);
      if (isHit) throw new HttpFailure("in_doubt", "timeout");
      return answer;
    },
  };
}

const PEERS = [
  ["the AT Protocol's own server", aPds, true],
  ["snac2", aSnac, snacRemoves],
] as const;

describe.each(PEERS)("a removal on %s", (_name, start, isHere) => {
  let peer: Peer;
  beforeAll(async () => {
    if (isHere) peer = await start();
  }, PDS_START_MS_MAX);
  afterAll(() => peer?.stop());

  test.skipIf(!isHere).each([
    ["is answered", "request", 0],
    ["loses its request", "request", 1],
    ["loses its answer", "answer", 1],
    ["loses three answers", "answer", 3],
  ] as const)("a removal that %s takes the post down once and for all", async (_, what, left) => {
    const { network, linked, isThere } = peer;
    const { remove } = network.calls;
    if (remove === undefined) throw new Error("there is no removal");
    const tools = toolsFor(peer, { what, left });
    const text = `To be removed ${what} ${left}`;
    const walk = await walkLeg(network, linked, { text }, tools);
    const { externalId } = publishedBy(walk);
    expect(await isThere(externalId, text)).toBe(true);
    const call = followUpOf(walk.leg, externalId);
    const { outcome, steps } = await walkFollowUp(remove, call, tools);
    expect(outcome).toMatchObject({ kind: "done" });
    expect(steps.filter((step) => step.startsWith("perform"))).toHaveLength(left + 1);
    expect(await isThere(externalId, text)).toBe(false);
    expect((await walkFollowUp(remove, call, tools)).outcome.kind).toBe("done");
  });
});
