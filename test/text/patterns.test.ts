import { check } from "recheck";
import { expect, test } from "vitest";
import { tolerated } from "../setup/bounds.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { GROWTH_CASES } from "./growth-cases.ts";
import { patternsIn, patternsInSource, type Found } from "./patterns-in-source.ts";

/** Patterns that never see text from outside. */
const OUR_OWN_TEXT: Readonly<Record<string, string>> = {
  "mail/render-mail.ts: Intl.Segmenter": "A sentence of a mail, whose values are bounded.",
  "networks/wording.ts: (?<!\\/)\\{(\\w+)\\}": "A sentence of ours, before its values are in it.",
  "runtime/ids.ts: new RegExp(`^${PREFIXES[":
    "A prefix of ours and 26 characters, from end to end.",
  "runtime/setting.ts: \\/+$": "A setting of the operator.",
};

/** Whose proof takes seconds: the long check repeats it. Another text than these is always judged. */
const PROVED: ReadonlySet<string> = new Set(
  IS_LONG
    ? []
    : [
        String.raw`/\b(Bearer|DPoP|Basic|OAuth)\s+[\w.~+/=-]{8,}/gi`,
        String.raw`/((?:access|refresh|id)_?(?:token|jwt)|client_secret|password)(["']?\s*[=:]\s*["']?)[^\s"'&,}]+/gi`,
        String.raw`/\bduplicate of urn:li:(?:share|ugcPost|activity):\d+/i`,
        String.raw`/\btemplate=(?:"([^"<]*)"|'([^'<]*)')/g`,
        String.raw`/\bresource \S+ does not exist/i`,
        String.raw`/\beyJ[\w-]{5,}(?:\.[\w-]*){0,4}/g`,
      ],
);

const covered = new Set(GROWTH_CASES.flatMap(({ covers = [] }) => covers));
const found = patternsInSource();
const textOf = ({ pattern }: Found) => `/${pattern?.source}/${pattern?.flags}`;
const isListed = ({ place }: Found): boolean => covered.has(place) || place in OUR_OWN_TEXT;

/** Without `*`, `+` and the like a pattern looks at so many characters and no more. */
function hasEnd(source: string): boolean {
  const bare = source.replaceAll(/\\./g, "x").replaceAll(/\[[^\]]*\]/g, "x");
  return !/[*+]|\{\d+,\}/.test(bare);
}

/** The checker takes a text that keeps a pattern busy for so long for a proof that it is not linear. */
const ATTACK_MS = 1_000;

/** Why it is not linear for certain; undefined when it is. */
async function doubtOf(
  { place, pattern }: Found,
  attackTimeout = ATTACK_MS,
): Promise<string | undefined> {
  if (pattern === undefined) return `${place}: can't be judged from here`;
  const { source, flags } = pattern;
  const verdict = await check(source, flags, { timeout: 180_000, attackTimeout });
  if (verdict.status === "vulnerable") return `${place}: try ${verdict.attack.pattern}`;
  if (verdict.status !== "safe") return `${place}: not decided (${verdict.error.kind})`;
  // An automaton proves it; what the checker finds by trying is no proof.
  return verdict.checker === "automaton" || hasEnd(source) ? undefined : `${place}: not proved`;
}

test(
  "every pattern is linear for certain, or its growth is measured",
  { timeout: 300_000 },
  async () => {
    const doubts: string[] = [];
    const judged = new Set<string>();
    for (const one of found.filter((one) => !isListed(one))) {
      const text = textOf(one);
      if (one.pattern !== undefined && (judged.has(text) || PROVED.has(text))) continue;
      judged.add(text);
      // On a busy machine a linear one takes long, too.
      const doubt = await doubtOf(one, tolerated(ATTACK_MS));
      if (doubt !== undefined) doubts.push(doubt);
    }
    expect(doubts, "repair them, or measure them in growth-cases.ts").toEqual([]);
  },
);

test("what is listed is there", () => {
  const places = new Set(found.map(({ place }) => place));
  expect([...covered, ...Object.keys(OUR_OWN_TEXT)].filter((place) => !places.has(place))).toEqual(
    [],
  );
  const texts = new Set(found.map(textOf));
  expect([...PROVED].filter((text) => !texts.has(text))).toEqual([]);
});

test("a pattern is found in every form that it can have", async () => {
  const text = [
    "const NAME = 'a'; const ALL = String.raw`(?:${NAME}+)`;",
    "const literal = /(a+)+$/giu;",
    "const composed = new RegExp(`^${ALL}+$` + NAME, 'g');",
    "const called = RegExp('(a|a)*$');",
    "const implied = text.match('(a*)*$');",
    "const unknown = new RegExp(text);",
    "text.normalize('NFC'); new Intl.Segmenter();",
  ].join("\n");
  const forms = patternsIn("src/shared/a.ts", text);
  expect(forms.map(({ pattern }) => pattern && `/${pattern.source}/${pattern.flags}`)).toEqual([
    "/(a+)+$/giu",
    "/^(?:a+)+$a/g",
    "/(a|a)*$/",
    "/(a*)*$/",
    undefined,
    undefined,
    undefined,
  ]);
  const doubts = await Promise.all(forms.map((form) => doubtOf(form)));
  expect(doubts.filter((doubt) => doubt === undefined)).toEqual([]);
});

// As they were when each of them held the service up.
test.each([
  [
    "mentions",
    String.raw`(?<![=/\p{L}\p{N}_])@([a-z0-9_]+(?:[a-z0-9_.-]*[a-z0-9_])?)@[\p{L}\p{N}_.-]*[\p{L}\p{N}_]`,
    "giu",
  ],
  ["tags of HTML", "<[^>]{0,10000}>", "g"],
  ["the end of a hashtag", String.raw`\p{P}+$`, "u"],
  ["a message of two words", "version.*(?:not active|deprecated)", "i"],
])("a pattern like that of %s is refused", async (place, source, flags) => {
  expect(await doubtOf({ place, pattern: { source, flags } })).toContain("try ");
});
