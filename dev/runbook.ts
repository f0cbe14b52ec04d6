import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const Alerts = z.array(z.object({ name: z.string(), events: z.array(z.string()) }));
const ROOT = join(import.meta.dirname, "..");
const RUNBOOK = "docs/operate/runbook.md";

function actionOf(runbook: string, name: string): string | undefined {
  const sections = runbook.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${name}\n`));
  const action = /^Action: (.+)$/m.exec(section ?? "")?.[1];
  // Links lead nowhere in a terminal.
  return action?.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
}

/** What the runbook says to do about log lines that an alert looks for, by their message. */
export function readRunbook(): ReadonlyMap<string, string> {
  const alerts = Alerts.parse(
    JSON.parse(readFileSync(join(ROOT, "infra", "alerts.json"), "utf8")) as unknown,
  );
  const runbook = readFileSync(join(ROOT, RUNBOOK), "utf8");
  const advice = new Map<string, string>();
  for (const { name, events } of alerts) {
    const action = actionOf(runbook, name);
    if (action === undefined) continue;
    for (const event of events) advice.set(event, `${action} (${RUNBOOK}#${name})`);
  }
  return advice;
}
