import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readRunbook } from "../../../dev/runbook.ts";
import { terminalLine, type Surroundings } from "../../../dev/terminal-lines.ts";

const post = {
  network: "bluesky",
  account: { id: "did:plc:alice", username: "alice.bsky.social" },
  id: "at://did:plc:alice/app.bsky.feed.post/1",
  url: "https://bsky.app/profile/did:plc:alice/post/1",
  page: "/profile/did:plc:alice/post/1",
};
const surroundings: Surroundings = {
  posts: () => [post],
  usernameOf: (network, id) =>
    network === "bluesky" && id === "did:plc:alice" ? post.account.username : undefined,
  pageOf: ({ page }) => `http://127.0.0.1:7072${page}`,
  advice: new Map([
    ["poison message", "Read the line before it. (docs/operate/runbook.md#poison)"],
  ]),
};

const logLine = (message: string, fields: object = {}, level = "info") =>
  JSON.stringify({ at: new Date().toISOString(), level, message, requestId: "req_1", ...fields });
const shown = (text: string, stream: "stdout" | "stderr" = "stdout") =>
  terminalLine(text, stream, surroundings);
const leg = { network: "bluesky", account: "did:plc:alice", postId: "pst_1" };

describe("the terminal shows", () => {
  test("each publish in one line: time, network, account, state, where to look", () => {
    const line = shown(logLine("leg published", { ...leg, networkPostId: post.id, url: post.url }));
    expect(line).toMatch(
      /^\d\d:\d\d:\d\d {2}bluesky +alice\.bsky\.social +published {2}http:\/\/127\.0\.0\.1:7072\/profile/,
    );
    expect(line).not.toContain("\n");
  });

  test("the network's own address where the sandbox does not have the post", () => {
    const url = "https://social.example/@bob/1";
    const line = shown(logLine("leg published", { network: "mastodon", account: "7", url }));
    expect(line).toMatch(/mastodon +7 +published {2}https:\/\/social\.example\/@bob\/1$/);
  });

  test("a failed leg with the sentences that the API has for it", () => {
    const line = shown(
      logLine("leg failed", { ...leg, reason: "text_too_long", networkCode: null }),
    );
    expect(line).toMatch(/failed +text_too_long .+ Shorten the text/);
    const failure = { reason: "permission_missing", rule: "facebook.account.role" };
    expect(shown(logLine("leg failed", { network: "facebook", account: "7", ...failure }))).toMatch(
      /facebook +7 +failed +permission_missing .* may no longer create content .* Ask an owner/,
    );
  });

  test("a leg that is tried again, and when", () => {
    const until = new Date().toISOString();
    const line = shown(logLine("leg delayed", { ...leg, reason: "network_unavailable", until }));
    expect(line).toMatch(
      /alice\.bsky\.social +waits +network_unavailable, again at \d\d:\d\d:\d\d$/,
    );
  });

  test("a leg of unknown outcome, and when it is looked for", () => {
    const until = new Date().toISOString();
    const line = shown(logLine("leg delayed", { ...leg, reason: "outcome_unknown", until }));
    expect(line).toMatch(/waits +outcome_unknown, looks for the post at \d\d:\d\d:\d\d$/);
  });

  test("trouble with what to do about it, shortened", () => {
    const fields = {
      queue: "publishing",
      error: { name: "Error", message: "no", stack: "x".repeat(500) },
    };
    const line = shown(logLine("poison message", fields, "error"), "stderr") ?? "";
    expect(line).toMatch(/error +poison message queue=publishing error=no\n +→ Read the line/);
    const long = shown(logLine("odd", { detail: "y".repeat(5_000) }, "warn"), "stderr") ?? "";
    expect(long.length).toBeLessThan(300);
  });

  test("an endpoint that does not answer with what its developer can do", () => {
    const fields = { kind: "deliveries", endpointId: "whk_1", postId: "pst_1" };
    const line = shown(logLine("webhook circuit opened", fields, "warn"), "stderr") ?? "";
    expect(line).toMatch(/webhook +whk_1 does not answer\. Start its program .*npm run listen/);
    expect(line).not.toContain("\n");
  });

  test.each([
    ["a request", logLine("request", { status: 200 })],
    ["a step of a leg", logLine("leg claimed", leg)],
    ["text of the host", "listening on http://127.0.0.1:7071"],
    ["broken JSON", '{"at":'],
    ["JSON of somebody else", '{"message":1}'],
  ])("nothing of %s: the log file has it", (_name, text) => {
    expect(shown(text)).toBeUndefined();
  });

  test("what the host itself complains of as it is", () => {
    expect(shown("the host did not start: no", "stderr")).toBe("the host did not start: no");
  });
});

describe("colors", () => {
  const script =
    'import { bad } from "./dev/terminal-style.ts"; console.log(JSON.stringify(bad("x")))';
  const printed = (command: string, env: object) => {
    const argv = ["-qec", `${process.execPath} --input-type=module -e '${script}'`, "/dev/null"];
    const plain = { PATH: process.env["PATH"], TERM: "xterm", ...env };
    return spawnSync(command, argv, { env: plain, encoding: "utf8" }).stdout;
  };

  test("colors are used on a terminal, and not with NO_COLOR", () => {
    expect(printed("script", {})).toContain("\\u001b[31m");
    expect(printed("script", { NO_COLOR: "1" })).toContain('"x"');
  });
});

test("the runbook has advice for every line that an alert looks for as trouble", () => {
  const advice = readRunbook();
  const alerts = JSON.parse(readFileSync("infra/alerts.json", "utf8")) as { events: string[] }[];
  for (const event of alerts.flatMap(({ events }) => events))
    expect(advice.get(event)).toMatch(/\. \(docs\/operate\/runbook\.md#[\w-]+\)$/);
  for (const text of advice.values()) expect(text).not.toContain("](");
});
