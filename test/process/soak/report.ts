import type { PublishedPost } from "../../../sandbox/network.ts";
import type { Fleet } from "./fleet.ts";
import type { Load } from "./load.ts";
import type { MessageCounts } from "./queue-weather.ts";
import type { Receivers } from "./receivers.ts";
import type { Snapshot } from "./snapshot.ts";
import { seenKey, seenPosts } from "./verdict.ts";

const VIOLATIONS_SHOWN = 50;

/** Everything that a soak can tell of itself. */
export interface Findings {
  readonly seconds: number;
  readonly drainedMs: number;
  readonly hosts: number;
  readonly seed: number;
  readonly fleet: Fleet;
  readonly load: Load;
  readonly messages: MessageCounts;
  readonly receivers: Receivers;
  readonly reconciliations: number;
  readonly visible: readonly PublishedPost[];
  readonly snapshots: readonly Snapshot[];
  readonly violations: readonly string[];
}

export interface Report {
  readonly text: string;
  readonly postsAccepted: number;
  readonly legsSucceeded: number;
  readonly visiblePosts: number;
  readonly kills: number;
  readonly restarts: number;
  readonly messagesDropped: number;
  readonly messagesDoubled: number;
  readonly eventsDelivered: number;
  readonly violations: readonly string[];
}

function counted(values: readonly string[]): string {
  const counts = Object.entries(Object.groupBy(values, (value) => value));
  return counts.map(([value, those]) => `${value} ${those?.length ?? 0}`).join(", ") || "none";
}

function inSeconds(milliseconds: number | undefined): string {
  return milliseconds === undefined ? "-" : `${(milliseconds / 1000).toFixed(2)} s`;
}

function quantiles(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((left, right) => left - right);
  const at = (share: number) =>
    inSeconds(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${inSeconds(sorted.at(-1))} (${sorted.length})`;
}

/** How late scheduled posts began, and how late they were visible where the network did not fail on purpose. */
function lateness({ snapshots, load, visible }: Findings) {
  const faulty = new Set(load.asks.filter(({ isFaulty }) => isFaulty).map(({ key }) => key));
  const seen = seenPosts(visible);
  const [begun, out]: [number[], number[]] = [[], []];
  for (const post of snapshots.flatMap(({ posts }) => posts)) {
    if (post.scheduleAt === null) continue;
    const since = (at: string) => Date.parse(at) - Date.parse(post.scheduleAt ?? "");
    if (post.startedAt !== null) begun.push(since(post.startedAt));
    if (faulty.has(post.externalId ?? "")) continue;
    for (const { platform } of post.legs)
      for (const { publishedAt } of seen.get(seenKey(platform, post.text)) ?? [])
        out.push(since(publishedAt));
  }
  return { begun, out };
}

export function reportOf(findings: Findings): Report {
  const { load, fleet, messages, receivers, snapshots, visible, violations } = findings;
  const posts = snapshots.flatMap((snapshot) => snapshot.posts);
  const legs = posts.flatMap((post) => post.legs);
  const succeeded = legs.filter(({ status }) => status === "succeeded").length;
  const arrivals = snapshots.flatMap(({ tenant }) => [
    ...receivers.arrivals(tenant.endpointPath).values(),
  ]);
  const late = lateness(findings);
  const errors = [...fleet.complaints.errors].map(([message, count]) => `${count} × ${message}`);
  const unknown = legs.filter(({ error }) => error?.code === "outcome_unknown").length;
  const failures = legs.flatMap(({ error }) => (error === null ? [] : [error.code]));
  const scheduled = posts.filter(({ scheduleAt }) => scheduleAt !== null).length;
  const { requests, unanswered, unavailable, twins, cancels, moves } = load.counts;
  const seenTwice = [...seenPosts(visible).values()].filter(({ length }) => length > 1).length;
  const repeated = arrivals.filter(({ calls }) => calls > 1).length;
  const lines = [
    `soak: ${findings.seconds} s and ${inSeconds(findings.drainedMs)} to come to rest, ${findings.hosts} host processes, seed ${findings.seed}`,
    `  kills ${fleet.kills}, restarts ${fleet.restarts}`,
    `  messages ${messages.sent}, dropped ${messages.dropped}, doubled ${messages.doubled}, late ${messages.late}`,
    `  requests ${requests}, without an answer ${unanswered}, told to come back ${unavailable}, asked by two at once ${twins}, canceled ${cancels}, moved ${moves}`,
    `  posts accepted ${posts.length} (${scheduled} scheduled): ${counted(posts.map(({ status }) => status))}`,
    `  legs ended ${legs.length}: ${counted(legs.map(({ status }) => status))}; reasons: ${counted(failures)}`,
    `  visible posts ${visible.length}, succeeded legs ${succeeded}, legs of unknown outcome ${unknown}, visible twice ${seenTwice}`,
    ...snapshots.map(
      ({ tenant, ledger, balance }) =>
        `  ledger of ${tenant.name}: ${ledger.length} entries, the last one says ${ledger.at(-1)?.balanceAfter}; balance ${balance.tokenBalance}, reserved ${balance.tokenReserved}`,
    ),
    `  wallets reconciled ${findings.reconciliations} times meanwhile, mismatches ${fleet.complaints.walletMismatches.length}`,
    `  events delivered ${arrivals.filter(({ taken }) => taken > 0).length} in ${receivers.calls} calls, to ${repeated} of them more than one, always under the same webhook-id`,
    `  scheduled posts began late by ${quantiles(late.begun)}; legs of them were visible late by ${quantiles(late.out)}`,
    `  error lines: ${errors.join("; ") || "none"}`,
    `  violations: ${violations.length}`,
    ...violations.slice(0, VIOLATIONS_SHOWN).map((violation) => `    ${violation}`),
  ];
  return {
    text: lines.join("\n"),
    postsAccepted: posts.length,
    legsSucceeded: succeeded,
    visiblePosts: visible.length,
    kills: fleet.kills,
    restarts: fleet.restarts,
    messagesDropped: messages.dropped,
    messagesDoubled: messages.doubled,
    eventsDelivered: arrivals.filter(({ taken }) => taken > 0).length,
    violations,
  };
}
