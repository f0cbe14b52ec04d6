import { composed } from "../../networks/contract/text.ts";
import { DamagedRow } from "../../runtime/storage/damaged-row.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import type { PublishingDeps } from "../deps.ts";
import type { NetworkAccount, StoredTextHolder, TextHolder } from "./account-store.ts";
import { isEnded, type Leg } from "../leg.ts";

const HOUR_MS = 60 * 60 * 1000;
const TEXTS_AT_ONCE = 32;

/** The text as duplicates are told: one form of every character, white space folded; undefined for no text at all. */
export function textHash(text: string): string | undefined {
  const folded = composed(text).replace(/\s+/gu, " ").trim();
  return folded === "" ? undefined : sha256Hex(folded);
}

/** What the holder of a text means for another leg with the same text. */
export type Holding =
  | { readonly kind: "free" }
  /** On its way: it may still fail and leave the text to others. */
  | { readonly kind: "pending"; readonly holder: StoredTextHolder }
  | {
      readonly kind: "published";
      readonly holder: StoredTextHolder;
      readonly allowedAfter: string;
    };

/** Whether a leg that holds a text still keeps others from it. One that may be live counts as published. */
function holdingOf(
  holder: StoredTextHolder,
  leg: Leg | undefined,
  window: { readonly hours: number; readonly now: Date },
): Holding {
  if (leg === undefined || leg.key !== holder.legKey) return { kind: "free" };
  if (!isEnded(leg)) return { kind: "pending", holder };
  const isLive = leg.status === "succeeded" || leg.error?.code === "outcome_unknown";
  const at = leg.publishedAt ?? leg.sentAt;
  if (!isLive || at === null) return { kind: "free" };
  const allowedAfter = new Date(Date.parse(at) + window.hours * HOUR_MS).toISOString();
  return allowedAfter > window.now.toISOString()
    ? { kind: "published", holder, allowedAfter }
    : { kind: "free" };
}

async function unlessLegDamaged<T>(reading: Promise<T>): Promise<T | "damaged"> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedRow) return "damaged";
    throw error;
  }
}

/** Removes a page of the texts that keep no leg from anything any more, of posts that were made before. */
export async function removeFreeTexts(
  services: PublishingDeps,
  madeBefore: Date,
  after: string | undefined,
) {
  const { networkAccounts, posts } = services;
  const { texts, next } = await networkAccounts.listTextsBefore(madeBefore, after);
  const hours = services.config.publishing.duplicateWindowHours;
  const window = { hours, now: services.clock.now() };
  let removed = 0;
  const remove = async (text: (typeof texts)[number]) => {
    // A leg that can't be understood keeps its text, and the others lose theirs.
    const found = await unlessLegDamaged(posts.findLeg(text.holder.place, text.network));
    if (found === "damaged" || holdingOf(text.holder, found?.leg, window).kind !== "free") return;
    if (await networkAccounts.removeText(text)) removed += 1;
  };
  for (let index = 0; index < texts.length; index += TEXTS_AT_ONCE)
    await Promise.all(texts.slice(index, index + TEXTS_AT_ONCE).map(remove));
  return { removed, next };
}

/** Who holds a text of an account, if anybody does. */
export async function findHolding(
  services: PublishingDeps,
  account: NetworkAccount,
  hash: string,
): Promise<{ readonly holding: Holding; readonly stored: StoredTextHolder | undefined }> {
  const stored = await services.networkAccounts.findText(account, hash);
  if (stored === undefined) return { holding: { kind: "free" }, stored };
  const found = await services.posts.findLeg(stored.place, account.network);
  const hours = services.config.publishing.duplicateWindowHours;
  const window = { hours, now: services.clock.now() };
  return { holding: holdingOf(stored, found?.leg, window), stored };
}

/**
 * Takes a text of an account for a leg. Of two legs at once one gets it; a holder that published nothing, or whose
 * 48 hours are over, is replaced.
 */
export async function claimText(
  services: PublishingDeps,
  account: NetworkAccount,
  hash: string,
  claim: TextHolder,
): Promise<Holding> {
  const { networkAccounts } = services;
  // Without a look first: of most texts nobody has heard before.
  if (await networkAccounts.holdText(account, hash, claim, undefined)) return { kind: "free" };
  const { holding, stored } = await findHolding(services, account, hash);
  if (stored?.legKey === claim.legKey) return { kind: "free" };
  if (holding.kind !== "free") return holding;
  if (await networkAccounts.holdText(account, hash, claim, stored)) return holding;
  const winner = await findHolding(services, account, hash);
  return winner.holding;
}
