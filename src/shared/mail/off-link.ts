import type { Config } from "../config/config.ts";
import { deriveKey, equalSecrets, hmacSha256 } from "../runtime/secrets.ts";
import { NOTICES, type OwnerNotice } from "./notice.ts";

/** How long a link works. Mails are forwarded and kept. */
const LIFE_MS = 60 * 24 * 60 * 60_000;

/** The user who switches off a notice, and which notice. */
interface Off {
  readonly platformId: string;
  readonly userId: string;
  readonly notice: OwnerNotice;
}

const macOf = (pepper: string, text: string) =>
  hmacSha256(deriveKey(pepper, "links that switch notices off"), text);

/**
 * Makes the link that switches off a notice. It works for 60 days, while the reader is an owner, and needs no row.
 */
export function offLink(
  { publicBaseUrl, identity }: Pick<Config, "publicBaseUrl" | "identity">,
  { platformId, userId, notice }: Off,
  now: Date,
): string {
  const endsAt = now.getTime() + LIFE_MS;
  const text = `${platformId}.${userId}.${notice}.${endsAt.toString(36)}`;
  const token = `${text}.${macOf(identity.keyPepper, text).toString("base64url")}`;
  return `${publicBaseUrl}/v1/auth/notices/off?token=${token}`;
}

/** Reads the token of a link that switches off a notice. The result is undefined for any other text, and after its end. */
export function readOffToken(
  { keyPepper, previousKeyPepper = keyPepper }: Config["identity"],
  token: string,
  now: Date,
): Off | undefined {
  const [platformId = "", userId = "", name = "", end = "", mac = ""] = token.split(".");
  const text = `${platformId}.${userId}.${name}.${end}`;
  const given = Buffer.from(mac, "base64url");
  const isRight = [keyPepper, previousKeyPepper].some((one) =>
    equalSecrets(macOf(one, text), given),
  );
  const notice = NOTICES.find((one) => one === name);
  const isOver = !(Number.parseInt(end, 36) > now.getTime());
  return isRight && !isOver && notice !== undefined ? { platformId, userId, notice } : undefined;
}
