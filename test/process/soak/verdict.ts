import type { PublishedPost } from "../../../sandbox/network.ts";
import { numberIn } from "./load.ts";
import type { Ask } from "./load.ts";
import type { Arrival } from "./receivers.ts";
import type { ShownEntry, ShownEvent, ShownLeg, ShownPost, Snapshot } from "./snapshot.ts";

const LEG_TOKENS = 10;
const END_EVENTS: ReadonlySet<string> = new Set([
  "post.succeeded",
  "post.partial",
  "post.failed",
  "post.canceled",
]);

/** What all of it is compared with: what customers asked for, what readers see, what receivers got. */
export interface Evidence {
  readonly asks: readonly Ask[];
  readonly visible: readonly PublishedPost[];
  readonly arrivals: (path: string) => ReadonlyMap<string, Arrival>;
}

/** What readers of the networks see, by the network and the number of the ask. */
type Seen = ReadonlyMap<string, readonly PublishedPost[]>;

export const seenKey = (network: string, text: string) => `${network}|${numberIn(text)}`;

export function seenPosts(visible: readonly PublishedPost[]): Seen {
  return Map.groupBy(visible, ({ network, text }) => seenKey(network, text));
}

/** The texts of the rules that are broken. */
function broken(...rules: readonly (readonly [isBroken: boolean, text: string])[]): string[] {
  return rules.flatMap(([isBroken, text]) => (isBroken ? [text] : []));
}

/** Sum and chain of the ledger, oldest first, and what the wallet says. */
function moneyViolations({ tenant, ledger, balance }: Snapshot): string[] {
  const violations: string[] = [];
  let [sum, promised] = [0, 0];
  for (const { id, type, tokens, balanceAfter, reservedAfter } of ledger) {
    if (type !== "reserve" && type !== "release") sum += tokens;
    if (type !== "credit" && type !== "debit") promised += tokens;
    if (balanceAfter !== sum || reservedAfter !== promised)
      violations.push(`the ledger entry ${id} does not add up`);
    if (promised < 0 || promised > sum)
      violations.push(`after ${id} there are ${promised} reserved of ${sum}`);
  }
  const { tokenBalance, tokenReserved } = balance;
  return [
    ...violations,
    ...broken(
      [sum !== tokenBalance, `the ledger of ${tenant.name} sums to ${sum}, not to ${tokenBalance}`],
      [tokenReserved !== 0, `${tenant.name} has ${tokenReserved} tokens reserved at rest`],
    ),
  ];
}

/** One leg: published once when it says so, never twice, not there when it failed for a known reason, paid for once. */
function legViolations(post: ShownPost, leg: ShownLeg, seen: Seen, paid: number): string[] {
  const what = `${leg.platform} of ${post.id} (${post.externalId})`;
  const there = seen.get(seenKey(leg.platform, post.text)) ?? [];
  const succeeded = leg.status === "succeeded";
  const isKnown = !succeeded && leg.error?.code !== "outcome_unknown";
  const charged = succeeded ? LEG_TOKENS : 0;
  return broken(
    [there.length > 1, `${what} is visible ${there.length} times`],
    [there.some(({ edits }) => edits > 0), `${what} was changed after it was out`],
    [succeeded && there.length === 0, `${what} succeeded and is not visible`],
    [isKnown && there.length > 0, `${what} is ${leg.status} (${leg.error?.code}) and is visible`],
    [leg.tokensCharged !== charged, `${what} is ${leg.status} and says ${leg.tokensCharged}`],
    [paid !== charged, `${what} is ${leg.status} and was paid with ${paid}`],
    [
      post.scheduleAt !== null &&
        there.some(({ publishedAt }) => publishedAt < `${post.scheduleAt}`),
      `${what} was published before ${post.scheduleAt}`,
    ],
  );
}

function paidOf(ledger: readonly ShownEntry[]): (postId: string, network: string) => number {
  const paid = new Map<string, number>();
  for (const { type, tokens, postId, platform } of ledger) {
    if (type !== "settle") continue;
    const key = `${postId}|${platform}`;
    paid.set(key, (paid.get(key) ?? 0) - tokens);
  }
  return (postId, network) => paid.get(`${postId}|${network}`) ?? 0;
}

function postViolations(snapshot: Snapshot, seen: Seen): string[] {
  const paid = paidOf(snapshot.ledger);
  const ends = new Map<string, ShownEvent[]>();
  for (const event of snapshot.events) {
    const postId = event.data.post?.id;
    if (postId === undefined || !END_EVENTS.has(event.type)) continue;
    ends.set(postId, [...(ends.get(postId) ?? []), event]);
  }
  return snapshot.posts.flatMap((post) => {
    const told = (ends.get(post.id) ?? []).map(({ type }) => type);
    const isOpen = post.status === "scheduled" || post.status === "processing";
    return [
      ...broken(
        [isOpen, `the post ${post.id} is ${post.status} at rest`],
        [
          told.length !== 1 || told[0] !== `post.${post.status}`,
          `the end of ${post.id}, which is ${post.status}, was told as ${told.join() || "nothing"}`,
        ],
      ),
      ...post.legs.flatMap((leg) => legViolations(post, leg, seen, paid(post.id, leg.platform))),
    ];
  });
}

/** Events that are about posts: the endpoint was there before the first of them. */
const isToBeDelivered = ({ data }: ShownEvent) => data.post !== undefined;

/** Every event reached the endpoint under its id and always as the same bytes, and nothing else did. */
function deliveryViolations({ tenant, events }: Snapshot, { arrivals }: Evidence): string[] {
  const arrived = arrivals(tenant.endpointPath);
  const ids = new Set(events.map(({ id }) => id));
  const missing = events
    .filter((event) => isToBeDelivered(event) && (arrived.get(event.id)?.taken ?? 0) === 0)
    .map(({ id, type }) => `${type} ${id} was not delivered`);
  const odd = [...arrived].flatMap(([id, { bodies }]) =>
    broken(
      [!ids.has(id), `${id} was delivered and is not listed`],
      [bodies.size > 1, `${id} was delivered in ${bodies.size} versions`],
    ),
  );
  return [...missing, ...odd];
}

/** One post per key, and every post that a customer was told about is there. */
function askViolations(asks: readonly Ask[], snapshots: readonly Snapshot[]): string[] {
  const found = new Map<string, string[]>();
  for (const { tenant, posts } of snapshots)
    for (const { id, externalId } of posts) {
      const key = `${tenant.name}|${externalId}`;
      found.set(key, [...(found.get(key) ?? []), id]);
    }
  return asks.flatMap(({ key, tenant, postIds }) => {
    const own = found.get(`${tenant.name}|${key}`) ?? [];
    return broken(
      [own.length > 1, `${key} stands for ${own.join()}`],
      [postIds.size > 1, `${key} was answered with ${[...postIds].join()}`],
      [
        [...postIds].some((id) => !own.includes(id)),
        `${key} was answered with a post that is gone`,
      ],
    );
  });
}

/** Everything visible belongs to a post. */
function strayViolations(seen: Seen, snapshots: readonly Snapshot[]): string[] {
  const known = new Set(
    snapshots.flatMap(({ posts }) =>
      posts.flatMap(({ text, legs }) => legs.map(({ platform }) => seenKey(platform, text))),
    ),
  );
  return [...seen.values()].flatMap((posts) =>
    posts
      .filter(({ network, text }) => !known.has(seenKey(network, text)))
      .map(({ url }) => `${url} is visible and nobody's`),
  );
}

/** What was broken of the rules, by what everybody can see from outside; nothing when all held. */
export function violationsOf(snapshots: readonly Snapshot[], evidence: Evidence): string[] {
  const seen = seenPosts(evidence.visible);
  return [
    ...snapshots.flatMap((snapshot) => [
      ...moneyViolations(snapshot),
      ...postViolations(snapshot, seen),
      ...deliveryViolations(snapshot, evidence),
    ]),
    ...askViolations(evidence.asks, snapshots),
    ...strayViolations(seen, snapshots),
  ];
}
