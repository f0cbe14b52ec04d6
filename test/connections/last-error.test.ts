import { expect, test } from "vitest";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay();

const FAILURE = {
  code: "account_restricted",
  rule: "bluesky.account.deactivated",
  networkCode: "AccountDeactivated",
} as const;

async function refusedAccount(): Promise<Publisher> {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { connections } = relay.services.connections.stores;
  const linked = await connections.find({ ...publisher.owner, network: "bluesky" });
  if (linked === undefined) throw new Error("nothing is linked");
  expect(await connections.mark(linked, FAILURE)).toBe(true);
  return publisher;
}

async function lastErrorIn(publisher: Publisher, language: string) {
  const path = `/v1/profiles/${publisher.profileId}/connections`;
  const headers = { "accept-language": language };
  const answer = await publisher.call("GET", path, { headers });
  expect(answer.headers.get("vary")).toBe("Accept-Language");
  return dataOf(answer)[0].lastError;
}

test("why a network refuses an account is stored as a code, a rule and values, and is said in the reader's language", async () => {
  const publisher = await refusedAccount();
  const english = await lastErrorIn(publisher, "en");
  expect(english).toEqual({
    code: FAILURE.code,
    rule: FAILURE.rule,
    message: expect.stringMatching(/deactivated/),
    remediation: expect.stringMatching(/\.$/),
    developerHint: expect.stringContaining("connect session"),
    docUrl: expect.stringMatching(/\/docs#leg-error-account_restricted$/),
    at: expect.any(String),
  });
  const german = await lastErrorIn(publisher, "de");
  expect(german).toMatchObject({ code: FAILURE.code, rule: FAILURE.rule, at: english.at });
  expect(german.message).not.toBe(english.message);
  const { connections } = relay.services.connections.stores;
  const stored = await connections.find({ ...publisher.owner, network: "bluesky" });
  expect(stored?.lastError).toEqual({
    code: FAILURE.code,
    rule: FAILURE.rule,
    values: {},
    at: english.at,
  });
});

test("an event about it is in English and links to the reference", async () => {
  const publisher = await refusedAccount();
  const english = await lastErrorIn(publisher, "en");
  await lastErrorIn(publisher, "fr");
  relay.advance(60_000);
  await relay.drain();
  const events = dataOf(await publisher.call("GET", "/v1/events?limit=100"));
  const refused = events.filter(({ type }: { type: string }) => type === "connection.needs_reauth");
  expect(refused.at(-1).data.connection.lastError).toEqual(english);
});
