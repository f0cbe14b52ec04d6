import type { NetworkName } from "../../src/shared/networks/lookup.ts";
import {
  aProfile,
  anApplication,
  dataOf,
  type TestApplication,
  type TestPlatform,
} from "./factories.ts";
import type { Answer, Relay } from "./relay.ts";
import { linkSandboxAccount } from "./sandbox-accounts.ts";

let count = 0;

/** Text that no other post of the run has. */
export function unique(text: string): string {
  count += 1;
  return `${text} ${process.pid} ${count}`;
}

/** A key that no other request of the run has. */
export function uniqueKey(): string {
  return unique("idempotency-key").replaceAll(" ", "-");
}

/** A product that publishes for one profile with linked sandbox accounts. */
export interface Publisher {
  readonly application: TestApplication;
  readonly key: string;
  readonly profileId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As the keys of stores are built. */
  readonly owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  };
}

export async function aPublisher(
  relay: Relay,
  networks: readonly NetworkName[] = ["bluesky", "mastodon"],
  platform?: TestPlatform,
): Promise<Publisher> {
  const application = await anApplication(relay, platform);
  const { id: profileId } = await aProfile(relay, application);
  const owner = { platformId: application.platform.id, applicationId: application.id, profileId };
  for (const network of networks) await linkSandboxAccount(relay.services, owner, network);
  return {
    application,
    key: application.key,
    profileId,
    headers: { "x-profile-id": profileId },
    owner,
  };
}

export function submitPost(
  relay: Relay,
  publisher: Publisher,
  body: object,
  idempotencyKey = uniqueKey(),
): Promise<Answer> {
  return relay.call("POST", "/v1/posts", {
    key: publisher.key,
    headers: { ...publisher.headers, "idempotency-key": idempotencyKey },
    body,
  });
}

export async function readPost(relay: Relay, { key, headers }: Publisher, postId: string) {
  return dataOf(await relay.call("GET", `/v1/posts/${postId}`, { key, headers }));
}

export async function readBalance(relay: Relay, { key }: Publisher) {
  return dataOf(await relay.call("GET", "/v1/billing/balance", { key }));
}

const ROUNDS_MAX = 40;
const ROUND_MS = 180_000;

/** Lets time pass until the post has ended. */
export async function settlePost(relay: Relay, publisher: Publisher, postId: string) {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await relay.drain();
    const post = await readPost(relay, publisher, postId);
    if (post.status !== "processing") return post;
    relay.advance(ROUND_MS);
  }
  throw new Error("the post did not end");
}
