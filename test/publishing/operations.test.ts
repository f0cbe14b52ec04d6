import { describe, expect, test } from "vitest";
import { type PartitionView, OutdatedAccess } from "../../src/shared/partition/partition.ts";
import type { Wallet } from "../../src/shared/ledger/ledger.ts";
import { walletRow, WALLET_KEY } from "../../src/shared/ledger/wallet-row.ts";
import { EMPTY_WALLET } from "../../src/shared/ledger/wallet.ts";
import { acceptOperation } from "../../src/shared/publishing/accept/accept-operation.ts";
import { idempotencyRowKey, toAcceptedRow } from "../../src/shared/publishing/idempotency-store.ts";
import type { CallEnd } from "../../src/shared/publishing/call.ts";
import { NO_HINTS } from "../../src/shared/publishing/hints.ts";
import type { Leg } from "../../src/shared/publishing/leg.ts";
import { type Post, postRefOf } from "../../src/shared/publishing/post.ts";
import { toLeg, toLegRow, toPostRow } from "../../src/shared/publishing/post-row.ts";
import { legKey, postKey, toWorkRow, workKey } from "../../src/shared/publishing/post-store.ts";
import { endOperation } from "../../src/shared/publishing/publish/apply-step.ts";
import type { Row, RowWrite, StoredRow } from "../../src/shared/runtime/storage/row.ts";
import { draftOf, type GivenLeg, legOf, NOW, postOf } from "./fixtures.ts";

const rich: Wallet = { ...EMPTY_WALLET, balance: 1_000, reserved: 20 };

function viewOf(
  rows: readonly Row[],
  { wallet = rich, accessVersion = "a version" } = {},
): PartitionView {
  const walletColumns = { ...walletRow.encode(wallet), rowKey: WALLET_KEY };
  const stored = new Map(
    [...rows, walletColumns].map((row): [string, StoredRow] => [
      row.rowKey,
      { row, etag: `etag of ${row.rowKey}` },
    ]),
  );
  return {
    accessVersion,
    now: NOW,
    row: (rowKey) => stored.get(rowKey),
  };
}

const keyOf = (write: RowWrite) => (write.kind === "delete" ? write.rowKey : write.row.rowKey);
/** The types of the events among the writes, in their order. */
const eventsOf = (writes: readonly RowWrite[]) =>
  writes.flatMap((write) =>
    write.kind === "create" && write.row.rowKey.startsWith("E|") ? [write.row["type"]] : [],
  );
describe("accepting a post", () => {
  const post = postOf();
  const legs = post.draft.networks.map((network) => legOf({ network }));
  const key = "order-7-first";
  const accepted = {
    fingerprint: "f",
    postId: post.id,
    profileId: post.profileId,
    httpStatus: 202,
  };
  const acceptance = (found: { readonly post: Post; readonly legs: readonly Leg[] }) => ({
    idempotencyKey: key,
    accepted,
    found,
    pace: { legsPerSecond: 10, workCheckSeconds: 30 },
    accessVersion: "a version",
  });
  const accept = (found = { post, legs }) => acceptOperation(acceptance(found));

  test("accepting answers with the key's post when another request was first, without checking the wallet", () => {
    const theirs = { ...accepted, postId: "pst_theirs", fingerprint: "other" };
    const createdAt = NOW.toISOString();
    const taken = { rowKey: idempotencyRowKey(key), ...theirs, createdAt };
    expect(accept().decide(viewOf([taken], { wallet: EMPTY_WALLET }))).toEqual({
      kind: "done",
      answer: { result: theirs, hints: NO_HINTS },
    });
  });

  test.each<[string, Wallet, string]>([
    ["tokens are missing", { ...rich, balance: 39 }, "insufficient_tokens"],
    ["the daily budget is used up", { ...rich, dailyBudget: 19 }, "daily_budget_reached"],
  ])("accepting a post is refused as a whole when %s", (_, wallet, code) => {
    expect(accept().decide(viewOf([], { wallet }))).toMatchObject({
      kind: "refuse",
      error: { code },
    });
  });

  test.each([
    ["another version", "another version"],
    ["none", ""],
  ])("accepting a post is decided again where the partition has %s", (_, accessVersion) => {
    const taken = toAcceptedRow(idempotencyRowKey(key), accepted, NOW.toISOString());
    const theirs = { ...taken, postId: "pst_theirs" };
    const error: unknown = expect.any(OutdatedAccess);
    expect(accept().decide(viewOf([], { accessVersion }))).toEqual({ kind: "refuse", error });
    expect(accept().decide(viewOf([theirs], { accessVersion }))).toEqual({ kind: "refuse", error });
    // What an earlier try wrote was written under the version that the partition had then.
    expect(accept().decide(viewOf([taken], { accessVersion }))).toMatchObject({ kind: "done" });
  });

  test("no version fits a partition without one", () => {
    const none = acceptOperation({ ...acceptance({ post, legs }), accessVersion: "" });
    expect(none.decide(viewOf([], { accessVersion: "" })).kind).toBe("refuse");
  });

  test("accepting a post stores no Idempotency-Key in clear text", () => {
    expect(JSON.stringify(accept().decide(viewOf([])))).not.toContain(key);
  });
});

describe("ending a leg", () => {
  const post: Post = postOf();
  const ref = postRefOf(post);
  const own = { network: "bluesky", state: "sent", claimId: "claim 1" } as const;
  const mine = legOf(own);
  const published: CallEnd = { kind: "done", externalId: "1", url: null };
  const failed: CallEnd = {
    kind: "failed",
    failure: { code: "media_rejected", networkCode: null },
  };
  const work = toWorkRow({ ref, nextCheckAt: NOW.toISOString(), checks: 0 });
  const rowsWith = (bluesky: Leg, mastodon: Leg, more: readonly Row[] = [work]): Row[] => [
    toPostRow(postKey(ref), post),
    toLegRow(legKey(ref, "bluesky"), bluesky),
    toLegRow(legKey(ref, "mastodon"), mastodon),
    ...more,
  ];
  const settle = (end: CallEnd, leg = mine) => endOperation({ ref, post, leg, end });
  const other = (overrides: GivenLeg) => legOf({ network: "mastodon", ...overrides });

  function settled(rows: readonly Row[], end = published) {
    const decision = settle(end).decide(viewOf(rows));
    if (decision.kind !== "write") throw new Error("it was not ended");
    const written = new Map(decision.writes.map((write) => [keyOf(write), write]));
    const leg = written.get(legKey(ref, "bluesky"));
    const postWrite = written.get(postKey(ref));
    if (leg?.kind !== "merge" || postWrite?.kind !== "merge")
      throw new Error("leg and post were not written under a condition");
    return {
      events: eventsOf(decision.writes),
      decision,
      leg: toLeg(leg.row),
      post: postWrite.row,
      work: written.get(workKey(post.id)),
    };
  }

  test("ending a leg ends a post whose work row is already removed", () => {
    expect(settled(rowsWith(mine, other({ state: "done" }), [])).work).toBeUndefined();
  });

  test.each<[string, GivenLeg]>([
    ["that another worker claimed", { claimId: "claim 2" }],
    ["that was given back", { claimId: null }],
    ["that has ended", { reservation: { ...mine.reservation, state: "settled" }, state: "done" }],
    [
      "that was released",
      { reservation: { ...mine.reservation, state: "released" }, state: "failed" },
    ],
    ["that never held tokens", { reservation: { ...mine.reservation, state: "none", tokens: 0 } }],
  ])("changes nothing of a leg %s", (_, leg) => {
    const stored = legOf({ ...own, ...leg });
    for (const end of [published, failed])
      expect(settle(end).decide(viewOf(rowsWith(stored, other({}))))).toEqual({
        kind: "done",
        answer: { result: false, hints: NO_HINTS },
      });
  });

  test("ending a leg stops when a row of the post is missing", () => {
    expect(() => settle(published).decide(viewOf(rowsWith(mine, other({})).slice(0, 2)))).toThrow(
      "a post lost rows",
    );
  });

  test("ending a leg reads every row that it decides on", () => {
    const wide = postOf({ draft: draftOf({ networks: ["bluesky", "mastodon", "linkedin"] }) });
    const at = postRefOf(wide);
    const { rowKeys } = endOperation({ ref: at, post: wide, leg: mine, end: published });
    expect(new Set(rowKeys)).toEqual(
      new Set([
        postKey(at),
        workKey(wide.id),
        legKey(at, "bluesky"),
        legKey(at, "mastodon"),
        legKey(at, "linkedin"),
      ]),
    );
  });
});
