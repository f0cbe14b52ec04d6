import { createHash } from "node:crypto";
import type { Settings } from "./settings.ts";

/**
 * SHA-256 of every secret that this repository publishes: those of local.settings.json.example and those that a
 * development machine has without any. Hashes, so that a search for a published secret doesn't end here.
 */
const PUBLISHED: ReadonlySet<string> = new Set([
  "3f7b5e620b3bf6d716f1c71c5a017a52ea3cbcad21a3e1c29bbb05f718f677ee",
  "088df2907cdac470cfd03fcc548c4a1c611834c08cfd27f6f4e3c1d9ceea7c2e",
  "a8953f2960545aff8ebd3a33ce5bc9667fdfc83b1d865c325ea61b9eb83c1616",
  "7382bcadc3d1985e0e740795835239b40047f678464c4348d0a6c79fccb817d0",
  "53a4750634a3e0cbe7d15e226fb9edee3678a9129f7f522e5497097e2835f5db",
  "79976661e8380251a3d23f9fea0bce6cdeea28b17f8258b0f6c621c62778e9fa",
  "d3da50ca957b8f3679e9e974dc42672596b0879a879a5a4b93c496e183802eab",
  "c4a788dd638e7b6f90b7fe9d3fa9b0216cc84c568200cf6f8449e718f26489aa",
  "e18e1cd96b11c8a8694c725c776ec577e9078e32ee4f26b6fbc095e44445a702",
  "f9f0d8ddc6008a2759886b7a222f65cd1354d98f3c6d3f9186a7d9bd25d46503",
  "5604981d762c7fcac73a0b6c531d1ac940e91403701e81fde6d5d0b8a43b0b9f",
  "4bb06f8e4e3a7715d201d573d0aa423762e55dabd61a2c02278fa56cc6d294e0",
]);

const DISTINCT_MIN = 8;
/** Characters that follow each other in texts that people type when any text will do. */
const TYPED_ROWS = [
  "01234567890",
  "abcdefghijklmnopqrstuvwxyz",
  "qwertyuiop",
  "asdfghjkl",
  "zxcvbnm",
];
const TYPED_PAIRS: ReadonlySet<string> = new Set(
  TYPED_ROWS.flatMap((row) => [row, row.split("").toReversed().join("")]).flatMap((row) =>
    Array.from({ length: row.length - 1 }, (_, at) => row.slice(at, at + 2)),
  ),
);

const sha256 = (value: string) => createHash("sha256").update(value).digest("hex");

/** Reports whether a shorter text, repeated, gives this one. */
function isRepeated(value: string): boolean {
  for (let period = 1; period <= value.length / 2; period += 1)
    if (value.startsWith(value.slice(period))) return true;
  return false;
}

/** Reports whether most characters follow from the ones before: `abcd…`, `aaaa…`, `9876…`, `qwerty…`. */
function isSequence(value: string): boolean {
  const text = value.toLowerCase();
  let followers = 0;
  for (let at = 1; at < text.length; at += 1) {
    const step = text.charCodeAt(at) - text.charCodeAt(at - 1);
    if (Math.abs(step) <= 1 || TYPED_PAIRS.has(text.slice(at - 1, at + 1))) followers += 1;
  }
  return followers * 2 > text.length;
}

function secretFault(value: string): string | undefined {
  if (PUBLISHED.has(sha256(value)))
    return "is published with the source code, so anybody knows it. Make a new one";
  if (new Set(value).size < DISTINCT_MIN || isRepeated(value) || isSequence(value))
    return "is too easy to guess. Make a random one, such as with `openssl rand -base64 48`";
  return undefined;
}

const OWN_SECRETS = ["SESSION_SECRET", "GRANT_SECRET", "KEY_PEPPER"] as const;

/** Returns why secrets protect nothing: they are published, easy to guess, or used for several purposes. */
export function findSecretFaults(
  settings: Settings,
  appSecrets: readonly (readonly [name: string, value: string])[],
): readonly string[] {
  // The current and the previous value of a secret have one purpose.
  const texts = OWN_SECRETS.flatMap((purpose) =>
    ([purpose, `${purpose}_PREVIOUS`] as const).map((name) => ({
      name,
      purpose,
      value: settings[name],
    })),
  );
  const keys = Object.entries(settings.DATA_KEYS ?? {}).map(([id, key]) => ({
    name: "DATA_KEYS",
    // Each key is another one, or a rotation has changed nothing.
    purpose: `key ${id}`,
    value: Buffer.from(key, "base64").toString("latin1"),
  }));
  const secrets = [...texts, ...keys].flatMap(({ value, ...rest }) =>
    value === undefined ? [] : [{ ...rest, value }],
  );
  const problems = secrets.flatMap(({ name, value }) => {
    const fault = secretFault(value);
    return fault === undefined ? [] : [`${name}: ${fault}`];
  });
  for (const [name, value] of appSecrets)
    if (PUBLISHED.has(sha256(value)))
      problems.push(`${name}: is the sandbox's, which every network refuses`);
  for (const [index, { name, purpose, value }] of secrets.entries()) {
    const twin = secrets
      .slice(0, index)
      .find((other) => other.value === value && other.purpose !== purpose);
    if (twin !== undefined)
      problems.push(
        `${name}: must be another secret than ${twin.name}, because each has one purpose`,
      );
  }
  return [...new Set(problems)];
}
