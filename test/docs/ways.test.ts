import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/dev/ways.md", "utf8");

/** A list of the page: how many functions its heading names, and its lines. */
interface Way {
  readonly heading: string;
  readonly count: number;
  readonly lines: readonly { readonly file: string; readonly what: string }[];
}

const ways = [...page.matchAll(/^## (.+): (\d+)\n[\s\S]*?```text\n([^`]+)```/gm)].map(
  ([, heading = "", count, list = ""]): Way => ({
    heading,
    count: Number(count),
    lines: list
      .trim()
      .split("\n")
      .map((line) => /^(\S+) {2,}(.+)$|^(\S+) (.+)$/.exec(line))
      .map((found) => ({
        file: found?.[1] ?? found?.[3] ?? "",
        what: found?.[2] ?? found?.[4] ?? "",
      })),
  }),
);

const sourceOf = (file: string) =>
  readFileSync(file.startsWith("functions/") ? `src/${file}` : `src/shared/${file}`, "utf8");

test("the page on ways has its four lists", () => {
  expect(ways.map(({ lines }) => lines.length > 0)).toEqual([true, true, true, true]);
  expect(page.match(/^## /gm)).toHaveLength(ways.length);
});

test.each(ways)("the way '$heading' is as long as its heading says", ({ count, lines }) => {
  expect(lines).toHaveLength(count);
});

test.each(ways.flatMap(({ lines }) => lines))("$file has $what", ({ file, what }) => {
  const source = sourceOf(file);
  const [name = "", ofWhat] = what.replace("the publishing queue", "publishing").split(" of ");
  const owner = ofWhat?.replace("the timeline's tools", "tools");
  // A closure has no name of its own. What it is given to, or is made in, has.
  const names = [...(name === "closure" ? [] : [name]), ...(owner === undefined ? [] : [owner])];
  for (const one of names) {
    const word = one.replace(/[#.]/g, String.raw`\s*\$&`);
    expect(source).toMatch(new RegExp(String.raw`(?<![\w])${word}\b`));
  }
  // A name of the list is declared there, and not only called: `name(…) {`, `name: …` or `name = …`.
  if (name !== "closure")
    expect(source).toMatch(
      new RegExp(
        String.raw`(?:function |async |readonly |const |^\s+)${name}(?:<[^>]*>)?(?:\(| ?[:=] )`,
        "m",
      ),
    );
});
