import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

export type Weakness = "own_words" | "repeats" | "sequence" | "common";

/** On the scale from zero to four. From three on, a hundred million guesses are not enough. */
const SCORE_MIN = 3;

const PATTERNS: Readonly<Record<string, Weakness>> = {
  repeat: "repeats",
  sequence: "sequence",
  spatial: "sequence",
};

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

/** Returns what makes a password easy to guess for somebody who knows these words. Null when it is hard. */
export function weaknessOf(password: string, words: readonly string[]): Weakness | null {
  const { score, sequence } = estimator.check(password, [...words]);
  if (score >= SCORE_MIN) return null;
  const isOwn = sequence.some(
    (match) => match.pattern === "dictionary" && match["dictionaryName"].startsWith("userInputs"),
  );
  if (isOwn) return "own_words";
  const [longest] = sequence.toSorted((one, other) => other.token.length - one.token.length);
  return PATTERNS[longest?.pattern ?? ""] ?? "common";
}
