import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describeRules } from "../../tools/describe-rules.ts";
import { breach, checkRules, textRules } from "../../src/shared/networks/contract/rules.ts";
import { LEG_ERRORS, WARNING_CODES } from "../../src/shared/networks/contract/errors.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";

const described = describeRules(NETWORK_NAMES.map(networkOf));
const SOURCES = new URL("../../src/shared/networks/", import.meta.url);

/** The ids that a network's own files name. */
function namedIn(network: string): readonly string[] {
  const folder = new URL(`${network}/`, SOURCES);
  const text = readdirSync(folder)
    .map((name) => readFileSync(new URL(name, folder), "utf8"))
    .join("\n");
  const subjects =
    "text|content|media|altText|story|reel|video|link|linkCard|document|visibility|focus|account|calls|post";
  const ids = text.matchAll(new RegExp(`"(${network}\\.(?:${subjects})\\.[A-Za-z]+)"`, "g"));
  return [...new Set([...ids].map(([, id = ""]) => id))];
}

describe("the rules of the networks", () => {
  test("the rules of the networks are listed, each once, under the network that has them", () => {
    const ids = described.map(({ rule }) => rule);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(described.map(({ network }) => network))).toEqual(new Set(NETWORK_NAMES));
    for (const { network, rule } of described) expect(rule.startsWith(`${network}.`)).toBe(true);
  });

  test.each(NETWORK_NAMES)("the rules of %s are all that its files name", (network) => {
    const named = namedIn(network);
    expect(named.length).toBeGreaterThan(0);
    const known = described.map(({ rule }) => rule);
    expect(named.filter((id) => !known.includes(id))).toEqual([]);
  });

  test.each(described.map((rule) => [rule.rule, rule] as const))(
    "%s has a code of the contract, words of ours and a way out",
    (_id, { severity, code, message, remediation, limit, unit }) => {
      expect(Object.keys(LEG_ERRORS).includes(code) || severity === "warning").toBe(true);
      expect(message).toMatch(/\.$/);
      expect(remediation).toMatch(/\.$/);
      expect(limit === undefined).toBe(unit === undefined);
    },
  );
});

/** The codes that a warning may have, which say what is done to the post, or could not be done. */
const OF_WARNINGS = [...WARNING_CODES, "permission_missing", "feature_unsupported"] as string[];

describe("the code of a rule", () => {
  test.each(["error", "warning"] as const)(
    "a rule that is an %s has a code of those",
    (severity) => {
      const found = described.filter((rule) => rule.severity === severity);
      const allowed = severity === "error" ? Object.keys(LEG_ERRORS) : OF_WARNINGS;
      expect(found.filter(({ code }) => !allowed.includes(code))).toEqual([]);
    },
  );

  test("rules of the same name have the same code and severity on all networks", () => {
    const meanings = new Map<string, string>();
    for (const { network, rule, severity, code } of described) {
      const name = rule.slice(network.length + 1);
      const meaning = `${severity} ${code}`;
      expect([rule, meanings.get(name) ?? meaning]).toEqual([rule, meaning]);
      meanings.set(name, meaning);
    }
  });
});

describe("a broken rule", () => {
  const table = {
    "toy.text.length": {
      severity: "error",
      code: "text_too_long",
      limit: 10,
      unit: "characters",
    },
  } as const;

  test("a broken rule has its numbers", () => {
    expect(breach(table, "toy.text.length", { used: 12, field: "text" })).toEqual({
      severity: "error",
      code: "text_too_long",
      rule: "toy.text.length",
      values: { used: 12, limit: 10 },
      field: "text",
      mediaIndex: null,
    });
  });

  test("a broken rule may have a limit of the account's own", () => {
    const at = { used: 6, limit: 5, mediaIndex: 2 } as const;
    expect(breach(table, "toy.text.length", at)).toMatchObject({
      values: { used: 6, limit: 5 },
      mediaIndex: 2,
    });
  });

  test.each([
    [9, []],
    [10, ["toy.text.nearLimit"]],
    [11, ["toy.text.length"]],
  ])("a broken rule is warned of above nine tenths: %s of 10", (usedCharacters, rules) => {
    const measured = { usedCharacters, maxCharacters: 10 };
    const toy = { network: "toy", id: "length", limit: 10 } as const;
    const ofText = textRules({ ...toy, unit: "characters" });
    const found = checkRules(ofText, { draft: { text: "", media: [], options: {} }, measured });
    expect(found.map(({ rule }) => rule)).toEqual(rules);
  });
});
