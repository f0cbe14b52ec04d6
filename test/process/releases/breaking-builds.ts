import type { Build, Patch } from "./builds.ts";
import { patched } from "./builds.ts";

/** What the next build writes beside the columns that both know. */
export const NEXT_COLUMN = "ofTheNextBuild";

const ENCODE = "encode(value){let into={v:ROW_FORM};";
const SETTLED = "tokensSettled:integer()";
const WALLET_WRITE = '{kind:"merge",row,etag:from.etag}';
const SENT = "return{v:1,...trace";

/** The next build, which has a column of its own in every row that it writes. */
export function withNextColumn(build: Build): Build {
  const to = `${ENCODE}into.${NEXT_COLUMN}="kept";`;
  return patched(build, [{ from: ENCODE, to }]);
}

interface Breach {
  readonly name: string;
  /** Which of the two breaks the rule: the kept build replaces what it does not know, the next one writes. */
  readonly of: "kept" | "next";
  readonly patches: readonly Patch[];
  /** What is noticed of it. */
  readonly noticed: RegExp;
}

/** Builds that break the rules of `docs/dev/releases.md`, each in one of its ways. */
export const BREACHES: readonly Breach[] = [
  {
    name: "gives a column another meaning",
    of: "next",
    patches: [
      {
        from: SETTLED,
        to: "tokensSettled:{...integer(),write:(into,name,value)=>{into[name]=String(value)},read:(row,name)=>Number(row[name])}",
      },
    ],
    noticed: /damaged row/,
  },
  {
    name: "replaces rows whose columns it does not know",
    of: "kept",
    patches: [{ from: WALLET_WRITE, to: '{kind:"replace",row,etag:from.etag}' }],
    noticed: /a column of the next build is gone/,
  },
  {
    name: "sends messages that the other one can't parse",
    of: "next",
    patches: [
      { from: SENT, to: "return{v:2,...trace" },
      { from: "v:literal(1)", to: "v:literal([1,2])" },
    ],
    noticed: /Executed '[a-z-]+' \(Failed/,
  },
];
