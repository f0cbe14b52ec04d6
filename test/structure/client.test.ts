import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clientFiles } from "../../tools/client.ts";

test("the TypeScript client has the operations and types that the document has now", async () => {
  const files = await clientFiles();
  const stored = Object.keys(files).map((path) => [path, readFileSync(path, "utf8")]);
  // Where they differ, `npm run client` makes them again.
  expect(Object.fromEntries(stored)).toEqual(files);
});
