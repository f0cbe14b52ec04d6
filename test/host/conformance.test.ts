import { expect, test } from "vitest";
import { answerOf, ROWS } from "./conformance.ts";
import { startHostProcess } from "./host-process.ts";

test("the local host answers every request of the table as the Functions host does", async () => {
  const { url } = await startHostProcess();
  const { origin } = new URL(url.replace("localhost", "127.0.0.1"));
  for (const row of ROWS) expect.soft(await answerOf(origin, row), row.name).toEqual(row.expected);
});

test("the home page can be switched off", async () => {
  const { url } = await startHostProcess({ env: { AzureWebJobsDisableHomepage: "true" } });
  expect((await fetch(new URL("/", url), { method: "POST" })).status).toBe(204);
});
