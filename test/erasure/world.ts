import type { Sandbox } from "../../sandbox/server.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, uniqueKey, type Publisher } from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { startReceiver, type Receiver } from "../webhooks/receiver.ts";
import { anEndpoint } from "../webhooks/subscriber.ts";
import { eraseProfiles } from "../setup/walks.ts";

const MINUTE = 60_000;
const MINUTES_MAX = 180;

export type EndCustomers = Receiver;
export const startEndCustomers = startReceiver;

/** Settings that put both the sandbox and the receiver in the place of the world. */
export function worldSettings(sandbox: Sandbox, receiver: Receiver): Record<string, string> {
  const hosts = Object.fromEntries(sandbox.hosts.map((host) => [host, sandbox.url]));
  const receivers = JSON.parse(receiver.settings["OUTBOUND_HOST_MAP"] ?? "{}") as object;
  return {
    OUTBOUND_HOST_MAP: JSON.stringify({ ...hosts, ...receivers }),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
  };
}

/** A profile with something in every place where the product keeps what people wrote, all of it with the mark. */
export interface MarkedProfile extends Publisher {
  readonly mark: string;
  readonly publishedId: string;
  readonly scheduledId: string;
}

async function schedule(relay: Relay, publisher: Publisher, mark: string): Promise<string> {
  const scheduleAt = new Date(relay.clock.now().getTime() + 6 * 60 * MINUTE).toISOString();
  const body = { text: `Later ${mark}`, platforms: ["mastodon"], scheduleAt };
  return (await publisher.accept(body)).id;
}

export async function aMarkedProfile(relay: Relay, receiver: Receiver): Promise<MarkedProfile> {
  const mark = `mark${uniqueKey().replaceAll("-", "")}`;
  const publisher = await aPublisher(relay);
  const { key, profileId, application } = publisher;
  const endpoint = await anEndpoint(relay, receiver, application);
  receiver.behave(endpoint.path, (outgoing) => void outgoing.end(`echo ${mark}`));
  const own = { title: `Bakery ${mark}`, externalId: mark, metadata: { owner: mark } };
  dataOf(await relay.call("PATCH", `/v1/profiles/${profileId}`, { key, body: own }));
  const session = { returnUrl: `https://app.example.com/${mark}`, state: mark };
  const path = `/v1/profiles/${profileId}/connect/sessions`;
  dataOf(await relay.call("POST", path, { key, body: session }));
  const body = {
    text: `Fresh bread ${mark}`,
    platforms: ["bluesky", "mastodon"],
    externalId: mark,
    metadata: { campaign: mark },
    platformOptions: { mastodon: { spoilerText: `Bread ${mark}` } },
  };
  const published = await publisher.accept(body);
  await publisher.settle(published.id);
  const scheduledId = await schedule(relay, publisher, mark);
  await relay.drain();
  return { ...publisher, mark, publishedId: published.id, scheduledId };
}

export const erase = (relay: Relay, { key, profileId }: Pick<Publisher, "key" | "profileId">) =>
  relay.call("POST", `/v1/profiles/${profileId}/erase`, { key });

/** One run of the timer, as the host starts it. */
export const runOnce = (relay: Relay) => eraseProfiles(relay.services);

async function isGone(relay: Relay, { key, profileId }: Publisher): Promise<boolean> {
  return (await relay.call("GET", `/v1/profiles/${profileId}`, { key })).status === 404;
}

/** Lets minutes pass, with the timer's run and the workers in each, until the profile is gone; answers how many. */
export async function untilGone(relay: Relay, profile: Publisher): Promise<number> {
  for (let minutes = 0; minutes < MINUTES_MAX; minutes += 1) {
    await relay.drain();
    await runOnce(relay);
    if (await isGone(relay, profile)) return minutes;
    relay.advance(MINUTE);
  }
  throw new Error("the profile was not erased");
}
