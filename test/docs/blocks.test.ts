import { describe, expect, test } from "vitest";
import { DOCUMENTS, blocksOf, treatmentOf, type Block } from "./blocks.ts";
import { problemOfJson } from "./json-example.ts";

const blocks = DOCUMENTS.flatMap(blocksOf);
const nameOf = ({ file, line }: Block) => `${file}:${line}`;

/** Every block that no test runs, and why. Another one is a decision: it belongs here. */
const NOT_RUN = [
  "CONTRIBUTING.md: a tree; its names are looked up",
  "README.md: a drawing",
  "clients/typescript/README.md: has its own test in test/outside/client/runtimes.test.ts",
  "clients/typescript/README.md: it needs a project of yours",
  "README.md: the tests of these documents have run it",
  "docs/dev/architecture.md: a drawing",
  "docs/dev/life-of-a-post.md: a drawing",
  "docs/dev/storage.md: a drawing",
  "docs/dev/ways.md: a list of functions",
  "docs/first-post.md: the test that runs the rest of this page has started it",
  "docs/local.md: it would replace settings of yours",
  "docs/local.md: needs Azure Functions Core Tools, which the tests do without",
  "docs/onboarding.md: needs an Azure subscription",
  ...["apps", "data", "deploy", "mail", "observe", "secrets"].map(
    (page) => `docs/operate/${page}.md: needs an Azure subscription`,
  ),
  "docs/operate/observe.md: a query of Application Insights",
  "docs/operate/observe.md: test/runtime/telemetry runs it over the log of a real run",
  "docs/operate/refused.md: a query of Application Insights",
  "docs/other-languages.md: has its own test in test/long/generators.long.ts",
  "docs/other-languages.md: test/long/generators.long.ts runs it for each of the five languages",
  "docs/webhooks.md: has its own test in test/webhooks/snippets.test.ts",
  "docs/webhooks.md: needs a program of yours; a test of this page starts one and runs it",
  "examples/README.md: test/outside/examples runs it",
];

describe("code in documents", () => {
  test("code in documents is run, held against a schema, or says why not", () => {
    const unknown = blocks.filter((block) => treatmentOf(block).kind === "unknown");
    expect(unknown.map(nameOf)).toEqual([]);
    const listed = blocks.flatMap((block) => {
      const treatment = treatmentOf(block);
      return treatment.kind === "listed" ? [`${block.file}: ${treatment.reason}`] : [];
    });
    expect([...new Set(listed)].sort()).toEqual(NOT_RUN.toSorted());
  });

  test("a shell function that several documents define is the same in all", () => {
    const defined = new Map<string, Set<string>>();
    for (const { code } of blocks)
      for (const [text, name = ""] of code.matchAll(/^(\w+)\(\) \{\n[^]*?^\}$/gm))
        defined.set(name, new Set([...(defined.get(name) ?? []), text]));
    expect(defined.has("relay")).toBe(true);
    const differing = [...defined].filter(([, texts]) => texts.size > 1).map(([name]) => name);
    expect(differing).toEqual([]);
  });

  test.each(
    blocks
      .filter((block) => treatmentOf(block).kind === "json")
      .map((block) => [nameOf(block), block]),
  )("%s is what its schema says", (_name, block) => {
    expect(problemOfJson(block)).toBeUndefined();
  });
});

describe("the check of examples", () => {
  const BALANCE = {
    tokenBalance: 99_990,
    tokenReserved: 20,
    available: 99_970,
    dailyTokenBudget: null,
    usedToday: 30,
    resetsAt: "2026-03-05T00:00:00.000Z",
  };
  const example = (value: unknown, ...words: string[]): Block => ({
    file: "an example",
    line: 1,
    language: "json",
    words,
    code: JSON.stringify(value),
    notRun: undefined,
    isBeside: false,
  });

  test("takes a right one, alone, shortened or in its envelope", () => {
    expect(problemOfJson(example(BALANCE, "Balance"))).toBeUndefined();
    expect(problemOfJson(example({ data: BALANCE }, "Balance"))).toBeUndefined();
    expect(problemOfJson(example({ available: 1 }, "Balance", "part"))).toBeUndefined();
  });

  test.each([
    ["a field that is missing", { available: 1 }, ["Balance"]],
    ["a field that does not exist", { ...BALANCE, balance: 1 }, ["Balance"]],
    ["a field that does not exist, shortened", { balance: 1 }, ["Balance", "part"]],
    ["a value of another type", { available: "1" }, ["Balance", "part"]],
    ["a wrong value deep inside", { legs: [{ status: "done" }] }, ["Post", "part"]],
    ["no schema", BALANCE, []],
    ["an unknown schema", BALANCE, ["Wallet"]],
  ])("refuses one with %s", (_what, value, words) => {
    expect(problemOfJson(example(value, ...words))).not.toBeUndefined();
  });
});
