import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Nothing but this machine: whatever a page names outside of it is not there.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];
const START_MS_MAX = 120_000;

const executable = PLACES.find((place) => existsSync(place));

export const hasChromium = executable !== undefined;

/** Name of a suite, which says why when it is skipped. */
export function inBrowser(name: string): string {
  return hasChromium ? name : `${name} (skipped: no Chromium at ${PLACES.join(", ")})`;
}

export async function openChromium(): Promise<Browser> {
  if (executable === undefined) throw new Error("there is no Chromium");
  return await chromium.launch({
    executablePath: executable,
    headless: true,
    args: FLAGS,
    timeout: START_MS_MAX,
  });
}
