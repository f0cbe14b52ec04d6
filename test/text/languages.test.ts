import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { LOCALES } from "../../src/shared/runtime/locale.ts";

/** Every text of a file by its path, and every other value. */
function textsOf(value: unknown, path = ""): (readonly [path: string, text: unknown])[] {
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, part]) => textsOf(part, `${path}.${name}`))
    : [[path, value]];
}

const read = (path: string) => new Map(textsOf(JSON.parse(readFileSync(path, "utf8"))));
const placesOf = (text: unknown) => [...new Set(String(text).match(/\{\w+\}/g))].toSorted();

const ENGLISH = globSync("src/**/en.json");

test("the texts of the connect page, of mails, of the pages of links and of findings are found", () => {
  expect(ENGLISH).toHaveLength(4);
});

describe.each(ENGLISH)("%s", (path) => {
  const english = read(path);

  test.each(LOCALES.filter((locale) => locale !== "en"))("has the same texts in %s", (locale) => {
    // A form's field is worded by its network in English.
    const own = new Map(
      [...read(join(dirname(path), `${locale}.json`))].filter(([at]) => !at.startsWith(".fields.")),
    );
    expect([...own.keys()].toSorted()).toEqual([...english.keys()].toSorted());
    expect([...own.values()].filter((text) => typeof text !== "string" || text === "")).toEqual(
      [...english.values()].filter((text) => typeof text !== "string" || text === ""),
    );
    const differing = [...english].filter(
      ([at, text]) => placesOf(own.get(at)).join() !== placesOf(text).join(),
    );
    expect(differing).toEqual([]);
  });
});
