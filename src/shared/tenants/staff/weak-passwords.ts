import { refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Weakness } from "./password-strength.ts";
import { PASSWORD_LENGTH } from "./schema.ts";

/** A new password, and words that a guesser would try first. */
interface NewPassword {
  /** The field that has the password. */
  readonly path: string;
  readonly password: unknown;
  readonly email: unknown;
  readonly platformName?: unknown;
}

const WORDS_MAX = 40;
const WORD_LENGTH_MIN = 3;

/** Returns the texts as a person would type them: whole, without word separators, and each word. */
function wordsOf(texts: readonly unknown[]): string[] {
  const words = texts
    .filter((text) => typeof text === "string")
    .flatMap((text) => [text, text.replace(/[\s\W_]+/g, ""), ...text.split(/[\s\W_]+/)])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length >= WORD_LENGTH_MIN);
  return [...new Set(words)].slice(0, WORDS_MAX);
}

const MESSAGES: Readonly<Record<Weakness, string>> = {
  own_words:
    "must be harder to guess: it is made of the e-mail, the platform's name or the service's name",
  repeats: "must be harder to guess: it repeats itself",
  sequence: "must be harder to guess: it follows the keyboard or the alphabet",
  common: "must be harder to guess: it is made of what many people choose. Use several rare words",
};

type WeakDeps = Pick<TenantsDeps, "config" | "secrets">;

/** Returns why a new password is refused, apart from its length, which the schema checks. */
export async function passwordIssues(
  services: WeakDeps,
  { path, password, email, platformName }: NewPassword,
): Promise<readonly Issue[]> {
  if (typeof password !== "string") return [];
  if (password.length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max) return [];
  const words = wordsOf([email, platformName, services.config.service.name]);
  const weakness = await services.secrets.passwords.weakness(password, words);
  if (weakness === undefined) return [];
  return [{ path, code: "password_too_weak", message: MESSAGES[weakness] }];
}

/** Refuses a password that is easy to guess. @throws AppError `validation_failed` */
export async function refuseWeak(services: WeakDeps, asked: NewPassword): Promise<void> {
  refuseIssues(await passwordIssues(services, asked));
}
