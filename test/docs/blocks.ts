import { readdirSync, readFileSync } from "node:fs";

/** A piece of code in a document. */
export interface Block {
  readonly file: string;
  /** Number of the line that opens it. */
  readonly line: number;
  /** Empty where the fence names none. */
  readonly language: string;
  /** What stands behind the language: for JSON the schema that it is an instance of. */
  readonly words: readonly string[];
  readonly code: string;
  /** Why it is not run, as the document says; undefined where it does not say so. */
  readonly notRun: string | undefined;
  /** Whether it goes on in a terminal of its own while those behind it run. */
  readonly isBeside: boolean;
}

export const DOCUMENTS: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "clients/typescript/README.md",
  "examples/README.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

const FENCE =
  /^(?:<!-- (?:not run: (.+?)|(in a terminal of its own)) -->\n\n)?```(.*)\n([\s\S]*?)^```$/gm;

export function blocksOf(file: string): Block[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(FENCE)].map((match) => {
    const [all, notRun, beside, info = "", code = ""] = match;
    const [language = "", ...words] = info.trim().split(/\s+/);
    const before = text.slice(0, match.index + all.indexOf("```"));
    const line = before.split("\n").length;
    return { file, line, language, words, code, notRun, isBeside: beside !== undefined };
  });
}

/** First words of lines of documents that are about Azure. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^(?:az|azd) /, "needs an Azure subscription"],
  [/^(?:let |traces$)/, "a query of Application Insights"],
];

/** Documents whose blocks in other languages than the shell's have a test of their own, and which. */
const OWN_TESTS: Readonly<Record<string, string>> = {
  "clients/typescript/README.md": "test/outside/client/runtimes.test.ts",
  "docs/other-languages.md": "test/long/generators.long.ts",
  "docs/webhooks.md": "test/webhooks/snippets.test.ts",
};

/** What is done about a block. */
export type Treatment =
  | { readonly kind: "shell" | "json" | "output" }
  | { readonly kind: "listed"; readonly reason: string }
  /** Nobody knows what to do with it: that is a failure. */
  | { readonly kind: "unknown" };

export function treatmentOf({ file, language, code, notRun }: Block): Treatment {
  if (notRun !== undefined) return { kind: "listed", reason: notRun };
  if (language === "sh") return { kind: "shell" };
  if (language === "json") return { kind: "json" };
  // What a block of the shell prints; all of these are compared with it.
  if (language === "console") return { kind: "output" };
  const ownTest = OWN_TESTS[file];
  if (ownTest !== undefined) return { kind: "listed", reason: `has its own test in ${ownTest}` };
  if (language === "mermaid") return { kind: "listed", reason: "a drawing" };
  const elsewhere = ELSEWHERE.find(([first]) => first.test(code.split("\n")[0] ?? ""));
  return elsewhere === undefined ? { kind: "unknown" } : { kind: "listed", reason: elsewhere[1] };
}
