import type { NetworkName } from "../../src/shared/networks/networks.ts";
import {
  aProfile,
  anApplication,
  dataOf,
  type TestApplication,
  type TestPlatform,
} from "./factories.ts";
import type { Answer, CallOptions, Relay } from "./relay.ts";
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

/** The parsed JSON of a post, or of a balance. */
type Data = Answer["body"];

/** A product that publishes for one profile with linked sandbox accounts. Its verbs call the relay that it is at. */
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
  /** Calls a route with the key, for the profile. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  submit(body: object, idempotencyKey?: string): Promise<Answer>;
  /** Submits a post that has to be accepted, and returns it. */
  accept(body: object, idempotencyKey?: string): Promise<Data>;
  read(postId: string): Promise<Data>;
  change(postId: string, changes: object): Promise<Answer>;
  cancel(postId: string): Promise<Answer>;
  retry(postId: string): Promise<Data>;
  /** Takes down what was published: on all networks, or on these. */
  remove(postId: string, platforms?: readonly string[]): Promise<Answer>;
  balance(): Promise<Data>;
  /** Lets time pass until the post has ended, and returns it. */
  settle(postId: string): Promise<Data>;
  /** Types of the events about a post, once the list shows them all. */
  eventTypes(postId: string): Promise<string[]>;
  /** The same publisher at another process of the deployment. */
  at(other: Relay): Publisher;
}

const ROUNDS_MAX = 40;
const ROUND_MS = 180_000;

/** The publisher that a profile of the application is. */
export function publisherOf(
  relay: Relay,
  application: TestApplication,
  profileId: string,
): Publisher {
  const { key } = application;
  const headers = { "x-profile-id": profileId };
  const call = (method: string, path: string, options: CallOptions = {}) =>
    relay.call(method, path, { key, ...options, headers: { ...headers, ...options.headers } });
  const submit = (body: object, idempotencyKey = uniqueKey()) =>
    call("POST", "/v1/posts", { headers: { "idempotency-key": idempotencyKey }, body });
  const read = async (postId: string) => dataOf(await call("GET", `/v1/posts/${postId}`));
  return {
    application,
    key,
    profileId,
    headers,
    owner: { platformId: application.platform.id, applicationId: application.id, profileId },
    call,
    submit,
    accept: async (body, idempotencyKey) => dataOf(await submit(body, idempotencyKey)),
    read,
    change: (postId, body) => call("PATCH", `/v1/posts/${postId}`, { body }),
    cancel: (postId) => call("DELETE", `/v1/posts/${postId}`),
    retry: async (postId) => dataOf(await call("POST", `/v1/posts/${postId}/retry`)),
    remove: (postId, platforms) =>
      call("POST", `/v1/posts/${postId}/remove`, { body: { platforms } }),
    balance: async () => dataOf(await call("GET", "/v1/billing/balance")),
    async settle(postId) {
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        await relay.drain();
        const post = await read(postId);
        if (post.status !== "processing") return post;
        relay.advance(ROUND_MS);
      }
      throw new Error("the post did not end");
    },
    async eventTypes(postId) {
      // A list shows what is some seconds old.
      relay.advance(60_000);
      await relay.drain();
      const events: Data[] = dataOf(await call("GET", "/v1/events?limit=100"));
      return events.filter(({ data }) => data.post?.id === postId).map(({ type }) => type);
    },
    at: (other) => publisherOf(other, application, profileId),
  };
}

export async function aPublisher(
  relay: Relay,
  networks: readonly NetworkName[] = ["bluesky", "mastodon"],
  platform?: TestPlatform,
): Promise<Publisher> {
  const application = await anApplication(relay, platform);
  const { id: profileId } = await aProfile(relay, application);
  const publisher = publisherOf(relay, application, profileId);
  for (const network of networks)
    await linkSandboxAccount(relay.services, publisher.owner, network);
  return publisher;
}
