import { connect } from "node:net";
import { expect, test } from "vitest";
import { answerOf, ROWS } from "./conformance.ts";
import { runHostProcess, startHostProcess } from "./host-process.ts";

test("the local host answers every request of the table as the Functions host does", async () => {
  const { url } = await startHostProcess();
  const { origin } = new URL(url.replace("localhost", "127.0.0.1"));
  for (const row of ROWS) expect.soft(await answerOf(origin, row), row.name).toEqual(row.expected);
});

test("the home page can be switched off", async () => {
  const { url } = await startHostProcess({ env: { AzureWebJobsDisableHomepage: "true" } });
  expect((await fetch(new URL("/", url), { method: "POST" })).status).toBe(204);
});

const BODY_BYTES_MAX = 1_048_576;

test("a declared body beyond the setting's limit is a bare 500, and one of exactly that size arrives", async () => {
  const { url } = await startHostProcess({
    env: { FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: String(BODY_BYTES_MAX) },
  });
  const { origin } = new URL(url.replace("localhost", "127.0.0.1"));
  const head = (...headers: readonly string[]) =>
    [`POST /api/echo HTTP/1.1`, "Host: a.test", "Connection: close", ...headers, "", ""].join(
      "\r\n",
    );
  // Nothing of the body is sent: the host answers for the length that is declared.
  const refused = await rawAnswer(origin, head(`Content-Length: ${BODY_BYTES_MAX + 1}`));
  expect(refused).toMatch(/^HTTP\/1\.1 500 /);
  expect(refused).toMatch(/\r\nConnection: close\r\n/i);
  expect(refused).toMatch(/\r\n\r\n$/);
  const body = "x".repeat(BODY_BYTES_MAX);
  const taken = await rawAnswer(origin, head(`Content-Length: ${BODY_BYTES_MAX}`) + body);
  expect(taken).toMatch(/^HTTP\/1\.1 200 /);
  const chunked = `${(BODY_BYTES_MAX + 1).toString(16)}\r\n${body}x\r\n0\r\n\r\n`;
  const uncounted = await rawAnswer(origin, head("Transfer-Encoding: chunked") + chunked);
  expect(uncounted).toMatch(/^HTTP\/1\.1 200 /);
});

test("a limit of bodies that is no number of bytes stops the start", async () => {
  const { code, output } = await runHostProcess({
    env: { FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: "1MB" },
  });
  expect(code).toBe(1);
  expect(output).toContain("FUNCTIONS_REQUEST_BODY_SIZE_LIMIT must be a number of bytes");
});

test("requests beyond maxOutstandingRequests are 429 without a word of when to come back", async () => {
  const http = { maxConcurrentRequests: 1, maxOutstandingRequests: 1 };
  const { url } = await startHostProcess({
    env: { FIXTURE_RUN_MS: "1000" },
    hostJson: { version: "2.0", extensions: { http } },
  });
  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${url}/hold`)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429, 429]);
  for (const { headers } of refused) {
    expect(headers.get("x-function-scaleout")).toBe("1");
    expect(headers.get("retry-after")).toBeNull();
  }
});

/** Sends the text and returns everything that comes back until the host closes the connection. */
async function rawAnswer(origin: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  socket.write(text);
  let answer = "";
  for await (const chunk of socket.setEncoding("latin1")) answer += String(chunk);
  return answer;
}
