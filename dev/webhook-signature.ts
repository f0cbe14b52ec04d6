import { createHmac, timingSafeEqual } from "node:crypto";

/** How far the time of a delivery may be from now, so that a recorded one can't be sent again. */
const SECONDS_MAX = 300;

/** Returns whether one of the signatures in `X-Social-Restapi-Signature` is made of this body with this secret, just now. */
export function isSignedBy(
  secret: string,
  header: string,
  body: string,
  now: number = Date.now() / 1_000,
): boolean {
  const parts = header.split(",").map((part) => part.split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!(Math.abs(now - Number(time)) <= SECONDS_MAX)) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const wanted = createHmac("sha256", key).update(`${time}.${body}`).digest();
  return parts
    .filter(([name]) => name === "v1")
    .map(([, hex = ""]) => Buffer.from(hex, "hex"))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
}
