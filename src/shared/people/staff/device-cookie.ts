import { DEVICE_SECONDS } from "../../callers/device-tokens.ts";
import type { Config } from "../../config/config.ts";
import { cookieOf, ownCookie, ownCookieName } from "../../runtime/cookies.ts";
import { comparedEmail } from "../../runtime/email.ts";
import { sha256Hex } from "../../runtime/secrets.ts";

const HASH_DIGITS = 16;

/** Names the cookie of an account, so that a browser keeps one for each account that it is used for. */
const deviceCookieName = (email: string) =>
  `device-${sha256Hex(comparedEmail(email)).slice(0, HASH_DIGITS)}`;

/**
 * Returns the header that keeps a device token in the browser. The pages of one-time links have no script that could
 * hand it to the program that logs in.
 */
export const deviceCookie = ({ publicBaseUrl }: Config, email: string, deviceToken: string) =>
  ownCookie(
    publicBaseUrl,
    deviceCookieName(email),
    deviceToken,
    `SameSite=Strict; Max-Age=${DEVICE_SECONDS}`,
  );

/** What a request may prove a known device with: a token in its body, or the cookie that a page has set. */
export interface DeviceProof {
  readonly deviceToken?: string | undefined;
  readonly cookie?: string | null | undefined;
}

/** Returns the device token of a request for an account. The one in the body comes first. */
export function deviceTokenOf(
  { publicBaseUrl }: Config,
  email: string,
  { deviceToken = "", cookie = null }: DeviceProof,
): string | undefined {
  if (deviceToken !== "") return deviceToken;
  return cookieOf(cookie, ownCookieName(publicBaseUrl, deviceCookieName(email)));
}
