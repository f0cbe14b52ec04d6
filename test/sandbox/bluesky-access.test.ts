import { describe, expect, test } from "vitest";
import type { Reply } from "./client.ts";
import type { Session } from "./bluesky-calls.ts";
import { PDS, POST, useBluesky } from "./bluesky-calls.ts";

let session: Session;

const { at, speakIn, xrpc, logIn, put } = useBluesky((fresh) => {
  session = fresh.session;
});

const HOUR_MS = 3_600_000;

describe("identity", () => {
  test("a handle leads to a DID, whose document leads to the server of the account", async () => {
    const resolved = await xrpc(
      "com.atproto.identity.resolveHandle?handle=demo.bsky.social",
      {},
      "public.api.bsky.app",
    );
    expect(resolved.json).toEqual({ did: session.did });
    const document = await at.call("plc.directory", `/${session.did}`);
    expect(document.json).toMatchObject({
      id: session.did,
      alsoKnownAs: ["at://demo.bsky.social"],
      service: [{ id: "#atproto_pds", serviceEndpoint: `https://${PDS}` }],
    });
    const encoded = await at.call("plc.directory", `/${encodeURIComponent(session.did)}`);
    expect(encoded.json["id"]).toBe(session.did);
    const proof = await at.call("demo.bsky.social", "/.well-known/atproto-did");
    expect(proof.text).toBe(session.did);
  });

  test("an unknown handle is a 400 and an unknown DID a 404", async () => {
    const handle = await xrpc(
      "com.atproto.identity.resolveHandle?handle=nobody.test",
      {},
      "bsky.social",
    );
    expect(handle).toMatchObject({ status: 400, json: { error: "InvalidRequest" } });
    expect((await at.call("plc.directory", "/did:plc:unknown")).status).toBe(404);
  });

  test("an added account is found by its handle and logs in", async () => {
    at.sandbox.networks.bluesky.addAccount({
      handle: "new.example",
      appPassword: "aaaa-bbbb-cccc-dddd",
    });
    expect((await logIn("new.example", "aaaa-bbbb-cccc-dddd")).status).toBe(200);
    expect(at.sandbox.hosts).toContain("new.example");
  });
});

describe("sessions", () => {
  test.each(["demo.bsky.social", "DEMO.bsky.social", "demo@sandbox.test"])(
    "%s logs in with its app password",
    async (identifier) => {
      const reply = await logIn(identifier);
      expect(reply).toMatchObject({
        status: 200,
        json: { did: session.did, handle: "demo.bsky.social", active: true },
      });
    },
  );

  test.each([
    ["demo.bsky.social", "wrong-wrong-wrong-wrong"],
    ["nobody.bsky.social", "demo-demo-demo-demo"],
  ])("%s with %s is refused", async (identifier, password) => {
    expect(await logIn(identifier, password)).toMatchObject({
      status: 401,
      json: { error: "AuthenticationRequired" },
    });
  });

  test("a main password is asked for its second factor", async () => {
    const { bluesky } = at.sandbox.networks;
    bluesky.addAccount({
      handle: "main.test",
      appPassword: "aaaa-bbbb-cccc-dddd",
      mainPassword: "main",
    });
    expect(await logIn("main.test", "main")).toMatchObject({
      status: 401,
      json: { error: "AuthFactorTokenRequired" },
    });
  });

  test("an access token ends after 2 hours with a 400, and the refresh token goes on", async () => {
    at.sandbox.advance(2 * HOUR_MS);
    expect(await put(POST)).toMatchObject({ status: 400, json: { error: "ExpiredToken" } });
    const refreshed = await xrpc("com.atproto.server.refreshSession", {
      method: "POST",
      token: session.refreshJwt,
    });
    speakIn(refreshed.json as typeof session);
    expect((await put(POST)).status).toBe(200);
  });

  test("a used refresh token answers with the same successor for 2 hours, then no more", async () => {
    const refresh = () =>
      xrpc("com.atproto.server.refreshSession", { method: "POST", token: session.refreshJwt });
    const jti = (reply: Reply) =>
      JSON.parse(
        Buffer.from(String(reply.json["refreshJwt"]).split(".")[1] ?? "", "base64url").toString(),
      ) as { jti: string };
    const [first, second] = [await refresh(), await refresh()];
    expect(jti(second).jti).toBe(jti(first).jti);
    at.sandbox.advance(2 * HOUR_MS);
    expect(await refresh()).toMatchObject({ status: 400, json: { error: "ExpiredToken" } });
  });

  test("an access token can't refresh and a refresh token can't post", async () => {
    const refreshed = await xrpc("com.atproto.server.refreshSession", {
      method: "POST",
      token: session.accessJwt,
    });
    expect(refreshed).toMatchObject({ status: 400, json: { error: "InvalidToken" } });
    speakIn({ ...session, accessJwt: session.refreshJwt });
    expect(await put(POST)).toMatchObject({ status: 400, json: { error: "InvalidToken" } });
  });

  test("a revoked app password ends refreshing, while the access token lives out its time", async () => {
    at.sandbox.networks.bluesky.revokeAppPasswords("demo.bsky.social");
    expect((await put(POST)).status).toBe(200);
    const refreshed = await xrpc("com.atproto.server.refreshSession", {
      method: "POST",
      token: session.refreshJwt,
    });
    expect(refreshed).toMatchObject({ status: 400, json: { error: "ExpiredToken" } });
    expect((await logIn()).status).toBe(401);
  });

  test("a deleted session can't be refreshed", async () => {
    const token = session.refreshJwt;
    const path = "com.atproto.server.deleteSession";
    expect((await xrpc(path, { method: "POST", token })).status).toBe(200);
    const refreshed = await xrpc("com.atproto.server.refreshSession", { method: "POST", token });
    expect(refreshed.status).toBe(400);
  });

  test("an account that was taken down is refused", async () => {
    at.sandbox.networks.bluesky.setStatus("demo.bsky.social", "takendown");
    expect(await put(POST)).toMatchObject({ status: 401, json: { error: "AccountTakedown" } });
  });

  test("the 31st log-in within 5 minutes is refused, and the headers say until when", async () => {
    for (let count = 1; count < 30; count += 1) expect((await logIn()).status).toBe(200);
    const refused = await logIn();
    expect(refused).toMatchObject({ status: 429, json: { error: "RateLimitExceeded" } });
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(Number(refused.headers.get("ratelimit-reset")) * 1000).toBeGreaterThan(Date.now());
  });
});
