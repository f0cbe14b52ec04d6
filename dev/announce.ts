import { DEMO_NETWORKS } from "./demo.ts";
import type { Demo } from "./demo.ts";
import { soft, strong } from "./terminal-style.ts";

/** Lines to be pasted: publish, read what became of it, look at the wallet. Each works by itself and more than once. */
function curlLines({ baseUrl, apiKey, profileId }: Demo): string[] {
  const key = `-H 'Authorization: Bearer ${apiKey}'`;
  const profile = `-H 'X-Profile-Id: ${profileId}'`;
  const platforms = JSON.stringify(DEMO_NETWORKS);
  const media = '["https://media.sandbox.test/portrait.jpg"]';
  const post = `'{"text":"Hello at '"$(date +%T)"'","mediaUrls":${media},"platforms":${platforms}}'`;
  return [
    `curl -sS ${baseUrl}/v1/posts ${key} ${profile} -H "Idempotency-Key: hello-$(date +%s)" -H 'Content-Type: application/json' -d ${post}`,
    `curl -sS '${baseUrl}/v1/posts?limit=1' ${key} ${profile}`,
    `curl -sS ${baseUrl}/v1/billing/balance ${key}`,
  ];
}

interface Announcement {
  readonly demo: Demo;
  readonly demoFile: string;
  /** Absent when the host was started by somebody else. */
  readonly hostLog?: string;
}

export function announce({ demo, demoFile, hostLog }: Announcement): void {
  const [publish = "", read = "", balance = ""] = curlLines(demo);
  const rows: readonly (readonly [string, string, string?])[] = [
    ["API", demo.baseUrl],
    ["Sandbox", `${demo.sandboxUrl}/`, "what was published, log-ins, failures to play"],
    ["Connect", demo.connectUrl, "the page on which end users link accounts"],
    ["API key", demo.apiKey],
    ["Profile", demo.profileId, `linked: ${DEMO_NETWORKS.join(", ")}`],
    ...(hostLog === undefined ? [] : [["Log", hostLog] as const]),
  ];
  const table = rows.map(([name, value, note]) => {
    const remark = note === undefined ? "" : `  ${soft(note)}`;
    return `  ${name.padEnd(8)} ${strong(value)}${remark}`;
  });
  console.log(`
${strong("The relay is up.")}

${table.join("\n")}

Publish, read what became of it, look at the wallet:

${publish}

${read}

${balance}

${soft(`All of this is in ${demoFile}. What is published shows below. Ctrl-C stops everything.`)}
`);
}
