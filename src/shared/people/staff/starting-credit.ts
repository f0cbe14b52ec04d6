import type { User } from "./user.ts";
import { creditId } from "../../ledger/ledger.ts";
import { comparedEmail } from "../../runtime/email.ts";
import { deriveKey, hmacSha256 } from "../../runtime/secrets.ts";
import type { PeopleDeps } from "../deps.ts";

const GMAIL = new Set(["gmail.com", "googlemail.com"]);

/** Returns the mailbox of an address, without `+…`, and for Gmail without dots, since these don't matter. */
export function mailboxOf(email: string): string {
  const address = comparedEmail(email);
  const at = address.lastIndexOf("@");
  const [local = ""] = address.slice(0, at).split("+", 1);
  const domain = address.slice(at + 1);
  return GMAIL.has(domain) ? `${local.replaceAll(".", "")}@gmail.com` : `${local}@${domain}`;
}

const hashOf = (email: string, pepper: string) =>
  hmacSha256(deriveKey(pepper, "starting credits"), mailboxOf(email)).toString("hex");

/** Reports whether the platform may have the credit of the email: once, even while the pepper is rotated. */
async function claimCredit(
  deps: Pick<PeopleDeps, "config" | "clock" | "stores">,
  platformId: string,
  email: string,
): Promise<boolean> {
  const { keyPepper, previousKeyPepper } = deps.config.identity;
  const { emails } = deps.stores;
  const before =
    previousKeyPepper === undefined
      ? undefined
      : await emails.creditedTo(hashOf(email, previousKeyPepper));
  if (before !== undefined) return before === platformId;
  const at = deps.clock.now().toISOString();
  return emails.claimCredit(hashOf(email, keyPepper), platformId, at);
}

/** Returns the reference that a starting credit shares with an operator's credit. */
const referenceOf = (platformId: string) => `signup:${platformId}`;

/**
 * Credits a new platform, once per platform and per email. May be repeated. An operator's credit has the same
 * reference, so an operator can make up for a failed one, but never make a second one.
 */
async function creditStart(
  deps: PeopleDeps,
  { platformId, email }: { readonly platformId: string; readonly email: string },
  requestId: string,
): Promise<void> {
  const tokens = deps.config.identity.signupCreditTokens;
  if (tokens === 0 || !(await claimCredit(deps, platformId, email))) return;
  await deps.creditWallet(platformId, {
    operationId: creditId(referenceOf(platformId)),
    tokens,
    actor: { kind: "system", id: "signup" },
    requestId,
    note: "Starting credit",
  });
}

/** Makes the starting credit. If it fails, the platform is created anyway and the log says what to credit. */
export async function startWithCredit(
  deps: PeopleDeps,
  { platformId, email, role }: Pick<User, "platformId" | "email" | "role">,
  requestId: string,
): Promise<void> {
  if (role !== "owner") return;
  try {
    await creditStart(deps, { platformId, email }, requestId);
  } catch (error) {
    const reference = referenceOf(platformId);
    deps.log.error("a starting credit was not made", { platformId, reference, error });
  }
}
