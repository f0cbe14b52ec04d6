import type { LimitsDeps } from "./deps.ts";
import { rateLimited } from "./rate-limited.ts";

/** A minute's new passwords. Each holds a core for a third of a second, which all customers share. */
const PER_MINUTE = { platform: 30, user: 10 } as const;

/** Counts a password that is about to be hashed for somebody who is signed in. @throws AppError `rate_limited` */
export async function admitPasswords(
  { limits }: LimitsDeps,
  { kind, id }: { readonly kind: keyof typeof PER_MINUTE; readonly id: string },
): Promise<void> {
  const { allowed, seconds } = await limits.rates.admit(`passwords|${id}`, PER_MINUTE[kind]);
  if (!allowed) throw rateLimited(seconds);
}
