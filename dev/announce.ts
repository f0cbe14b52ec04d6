import { writeFileSync } from "node:fs";
import { DEMO_NETWORKS } from "./demo.ts";
import type { Demo } from "./demo.ts";
import { soft, strong } from "./terminal-style.ts";

/** How much of a secret or an id is shown, at each of its ends. */
const SHOWN_START = 12;
const SHOWN_END = 6;

const shortened = (text: string) => `${text.slice(0, SHOWN_START)}…${text.slice(-SHOWN_END)}`;

/** Writes the demo's headers as a configuration of curl, so that the lines to paste stay short. */
function writeCurlFile(file: string, { apiKey, profileId }: Demo): void {
  const headers = [
    `Authorization: Bearer ${apiKey}`,
    `X-Profile-Id: ${profileId}`,
    "Content-Type: application/json",
  ];
  const lines = [
    "silent",
    "show-error",
    String.raw`write-out = "\n"`,
    ...headers.map((header) => `header = "${header}"`),
  ];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
}

/** Returns the call that publishes to every network. It can be pasted more than once. */
function publishCall({ baseUrl }: Demo, curlFile: string): string {
  const platforms = JSON.stringify(DEMO_NETWORKS);
  const media = '["https://media.sandbox.test/portrait.jpg"]';
  return `curl -K ${curlFile} ${baseUrl}/v1/posts -H "Idempotency-Key: $(date +%s)" \\
  -d '{"text": "Hello at '"$(date +%T)"'", "mediaUrls": ${media},
       "platforms": ${platforms}}'`;
}

interface Announcement {
  readonly demo: Demo;
  /** Where the page is that links accounts: a short address that leads to it. */
  readonly connectUrl: string;
  readonly demoFile: string;
  readonly curlFile: string;
}

/** Says what a newcomer needs first: one call, where to see what it did, and where the reference is. */
export function announce({ demo, connectUrl, demoFile, curlFile }: Announcement): void {
  writeCurlFile(curlFile, demo);
  const rows = [
    ["See it", `${demo.sandboxUrl}/`, "posts as readers see them, logins, failures to cause"],
    ["Uploads", `${demo.sandboxUrl}/uploads`, "uploads a file of your disk, step by step"],
    ["Mailbox", `${demo.sandboxUrl}/mailbox`, "every mail that the relay sends"],
    ["Reference", `${demo.baseUrl}/docs`, "every call of the API, with its fields and errors"],
    ["Try calls", `${demo.sandboxUrl}/reference`, "the reference with buttons that send a call"],
    ["Connect page", connectUrl, "where your customers link their accounts"],
    ["Webhooks", "npm run listen", "receives, verifies and prints them, in another terminal"],
    ["API key", shortened(demo.apiKey), `in full, with the other ids: ${demoFile}`],
  ] as const;
  const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const [names = 0, values = 0] = widths;
  const table = rows.map(
    ([name, value, note]) =>
      `${name.padEnd(names)}  ${strong(value.padEnd(values))}  ${soft(note)}`,
  );
  console.log(`
${strong("The relay is up.")} Publish to ${DEMO_NETWORKS.length} networks: paste this into another terminal.

${publishCall(demo, curlFile)}

${table.join("\n")}

${soft("What is published shows below. Ctrl-C stops everything.")}
`);
}
