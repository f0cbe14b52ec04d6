import type { LoginAttempt } from "../../limits/limits.ts";
import { checkCode, type CodeDeps } from "./check-second-factor.ts";
import type { CodeProof } from "./second-factor.ts";
import { hasTotp, type User } from "./user.ts";

/** The result of the second step, after the right password. */
export type SecondStep = CodeProof | { readonly kind: "not_needed" | "missing" | "wrong" };

/** Checks the code in the request, if the user has a second factor. @throws AppError `rate_limited` */
export async function checkSecondStep(
  deps: CodeDeps,
  attempt: LoginAttempt,
  { user, totpCode }: { readonly user: User; readonly totpCode: string | undefined },
): Promise<SecondStep> {
  if (!hasTotp(user)) return { kind: "not_needed" };
  const code = (totpCode ?? "").trim();
  if (code === "") return { kind: "missing" };
  await attempt.admitCode(user);
  return checkCode(deps, user, code) ?? { kind: "wrong" };
}

export const isProof = (step: SecondStep): step is CodeProof =>
  step.kind === "totp_code" || step.kind === "recovery_code";
