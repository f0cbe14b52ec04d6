import { objectShape } from "../contract/fields.ts";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { boundedText, type FailedCheck } from "../../runtime/errors.ts";
import { parseAnswer } from "../../runtime/http-call.ts";
import { idShape } from "../contract/answers.ts";
import type { WithdrawalNotice, WithdrawalNotices } from "../contract/network.ts";
import type { NetworkApp } from "../contract/settings.ts";

const AGE_MAX_SECONDS = 24 * 3_600;
/** How far Meta's clock may be ahead of ours. */
const AHEAD_MAX_SECONDS = 300;
const KEY_CHARACTERS = 40;

const payloadShape = objectShape(() => ({
  algorithm: z.literal("HMAC-SHA256"),
  user_id: idShape().pipe(z.string().regex(/^\d{1,40}$/)),
  issued_at: z.number(),
}));

/**
 * Reads a `signed_request`: a signature and a payload in base64url, separated by a dot. It is signed with the app's
 * secret (https://developers.facebook.com/docs/development/create-an-app/app-dashboard/data-deletion-callback).
 */
function read(
  signed: string,
  { id, secret }: NetworkApp,
  now: Date,
): WithdrawalNotice | FailedCheck {
  const [signature = "", payload = "", ...rest] = signed.split(".");
  const given = Buffer.from(signature, "base64url");
  const expected = createHmac("sha256", secret).update(payload).digest();
  const isAuthentic = given.length === expected.length && timingSafeEqual(given, expected);
  if (!isAuthentic || rest.length > 0)
    return { check: "signature", expected: `made with the secret of app ${id}` };
  const { data } = payloadShape().safeParse(
    parseAnswer(Buffer.from(payload, "base64url").toString("utf8")),
  );
  if (data === undefined)
    return { check: "form", expected: "algorithm HMAC-SHA256, user_id and issued_at" };
  const ageSeconds = now.getTime() / 1000 - data.issued_at;
  if (ageSeconds > AGE_MAX_SECONDS || ageSeconds < -AHEAD_MAX_SECONDS)
    return {
      check: "issued at",
      expected: `within 24 hours before ${now.toISOString()}`,
      found: boundedText(data.issued_at),
    };
  const key = createHash("sha256").update(given).digest("hex").slice(0, KEY_CHARACTERS);
  return { grantId: data.user_id, key };
}

/** Facebook and Instagram send the same to the same addresses, each signed with its own app's secret. */
export const metaWithdrawals: WithdrawalNotices = { sender: "meta", field: "signed_request", read };
