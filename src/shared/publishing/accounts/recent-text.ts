import { composed } from "../../networks/contract/text.ts";
import { DamagedRow } from "../../runtime/storage/damaged-row.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import type { PublishingDeps } from "../deps.ts";
import type { NetworkAccount, StoredTextClaim, TextClaim } from "./account-store.ts";
import { mayShow } from "../call.ts";
import { isEnded, latestCall, type Leg, legKeyOf, publishingCall } from "../leg.ts";
import { inBatches } from "../../runtime/promises.ts";

const HOUR_MS = 60 * 60 * 1000;
const TEXTS_AT_ONCE = 32;
/** Only texts of posts this much older are checked, which is longer than publishing one takes. */
const MARGIN_HOURS = 24;

/** Returns the hash by which texts are compared: with normalized characters and white space. Undefined for no text. */
export function textHash(text: string): string | undefined {
  const folded = composed(text).replace(/\s+/gu, " ").trim();
  return folded === "" ? undefined : sha256Hex(folded);
}

/** What the claim of a text means for another leg with the same text. */
export type TextState =
  | { readonly kind: "free" }
  /** The leg has not ended. It may still fail and free the text. */
  | { readonly kind: "pending"; readonly claim: StoredTextClaim }
  | {
      readonly kind: "published";
      readonly claim: StoredTextClaim;
      readonly allowedAfter: string;
    };

/** Reports whether a claim still counts. A leg that may have published counts as published. */
function textStateOf(
  claim: StoredTextClaim,
  leg: Leg | undefined,
  window: { readonly hours: number; readonly now: Date },
): TextState {
  if (leg === undefined || legKeyOf(leg) !== claim.legKey) return { kind: "free" };
  if (!isEnded(leg)) return { kind: "pending", claim };
  if (latestCall(leg, "remove")?.state === "done") return { kind: "free" };
  const publishing = publishingCall(leg);
  const at = publishing.sentAt ?? publishing.at;
  if (!mayShow(publishing) || at === null) return { kind: "free" };
  const allowedAfter = new Date(Date.parse(at) + window.hours * HOUR_MS).toISOString();
  return allowedAfter > window.now.toISOString()
    ? { kind: "published", claim, allowedAfter }
    : { kind: "free" };
}

/** Removes a page of texts whose claims no longer count, of posts a day older than the texts must be. */
export async function removeFreeTexts(deps: PublishingDeps, after: string | undefined) {
  const { networkAccounts, posts } = deps.stores;
  const hours = deps.config.publishing.duplicateWindowHours;
  const now = deps.clock.now();
  const madeBefore = new Date(now.getTime() - (hours + MARGIN_HOURS) * 60 * 60 * 1000);
  const { texts, next } = await networkAccounts.listTextsBefore(madeBefore, after);
  const window = { hours, now };
  let removed = 0;
  const remove = async (text: (typeof texts)[number]) => {
    try {
      const found = await posts.findLeg(text.claim.ref, text.network);
      if (textStateOf(text.claim, found?.leg, window).kind !== "free") return;
    } catch (error) {
      // A damaged leg keeps its text.
      if (error instanceof DamagedRow) return;
      throw error;
    }
    if (await networkAccounts.removeText(text)) removed += 1;
  };
  await inBatches(texts, TEXTS_AT_ONCE, remove);
  return { removed, next };
}

/** Returns the claim of a text of an account, and what it means now. */
export async function findTextState(
  deps: Pick<PublishingDeps, "config" | "clock" | "stores">,
  account: NetworkAccount,
  hash: string,
): Promise<{ readonly state: TextState; readonly stored: StoredTextClaim | undefined }> {
  const stored = await deps.stores.networkAccounts.findText(account, hash);
  if (stored === undefined) return { state: { kind: "free" }, stored };
  const found = await deps.stores.posts.findLeg(stored.ref, account.network);
  const hours = deps.config.publishing.duplicateWindowHours;
  const window = { hours, now: deps.clock.now() };
  return { state: textStateOf(stored, found?.leg, window), stored };
}

/**
 * Claims a text of an account for a leg. Of concurrent claims, one is written. It replaces the claim of a leg that
 * published nothing, or whose 48 hours are over.
 */
export async function claimText(
  deps: Pick<PublishingDeps, "config" | "clock" | "stores">,
  account: NetworkAccount,
  hash: string,
  claim: TextClaim,
): Promise<TextState> {
  const { networkAccounts } = deps.stores;
  // Written without reading first, because most texts are new.
  if (await networkAccounts.claimText(account, hash, claim, undefined)) return { kind: "free" };
  const { state, stored } = await findTextState(deps, account, hash);
  if (stored?.legKey === claim.legKey) return { kind: "free" };
  if (state.kind !== "free") return state;
  if (await networkAccounts.claimText(account, hash, claim, stored)) return state;
  const winner = await findTextState(deps, account, hash);
  return winner.state;
}
