import type { Asker } from "../../limits/limits.ts";
import { validationFailed } from "../../runtime/errors.ts";
import type { PeopleDeps } from "../deps.ts";
import { isMadeOfWords, wordsOf } from "./personal-words.ts";
import type { Weakness } from "./password-strength.ts";

/** A new password, and what its words may not be. */
export interface NewPassword {
  /** The field that has the password. */
  readonly path: string;
  readonly password: string;
  readonly email: string;
  readonly platformName: string;
}

const MESSAGES: Readonly<Record<Weakness, string>> = {
  own_words:
    "must be harder to guess: it is made of the email, the platform's name or the service's name",
  repeats: "must be harder to guess: it repeats itself",
  sequence: "must be harder to guess: it follows the keyboard or the alphabet",
  common: "must be harder to guess: it is made of what many people choose. Use several rare words",
};

type HashingDeps = Pick<PeopleDeps, "config" | "secrets">;

const tooWeak = (path: string, weakness: Weakness) =>
  validationFailed([{ path, code: "password_too_weak", message: MESSAGES[weakness] }]);

/**
 * Hashes a new password, unless it is easy to guess. Both cost much, so this is the last check of a request.
 * @throws AppError `validation_failed`; `service_unavailable` when too many wait
 */
export async function hashNewPassword(
  { config, secrets }: HashingDeps,
  asker: Asker,
  { path, password, email, platformName }: NewPassword,
): Promise<string> {
  const words = wordsOf([email, platformName, config.service.name]);
  if (isMadeOfWords(password, words)) throw tooWeak(path, "own_words");
  const made = await secrets.passwords.inTurn(asker, (hashing) =>
    hashing.hashUnlessWeak(password, words),
  );
  if ("weakness" in made) throw tooWeak(path, made.weakness);
  return made.hash;
}
