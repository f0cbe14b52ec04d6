import axe from "axe-core";
import type { Browser, Page } from "playwright-core";

/** How a page is looked at: what the user prefers, and how wide the window is. */
export interface Look {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}
export const LIGHT_PHONE: Look = { colorScheme: "light", width: 360 };
export const DARK_PHONE: Look = { colorScheme: "dark", width: 360 };
export const LIGHT_DESK: Look = { colorScheme: "light", width: 1280 };
export const DARK_DESK: Look = { colorScheme: "dark", width: 1280 };

/** Opens a page in a context of its own. `refused`: what the page's policy has refused so far. */
export async function openPage(browser: Browser, { colorScheme, width }: Look) {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 740 } });
  const refused: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) refused.push(message.text());
  });
  return { page, refused };
}

/**
 * What axe finds wrong by all of its rules or by those that are named, in one line each; what it can't tell counts as
 * wrong, too.
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async (only) => {
    const checker = (globalThis as unknown as { axe: typeof axe }).axe;
    const { violations, incomplete } = await checker.run(
      only === undefined ? {} : { runOnly: { type: "rule", values: [...only] } },
    );
    return [...violations, ...incomplete].map(({ id, help, nodes }) => ({
      rule: `${id}: ${help}`,
      nodes: nodes.map((node) => node.html.slice(0, 200)),
    }));
  }, rules);
  return found.map(({ rule, nodes }) => `${rule} at ${nodes.join(" and ")}`);
}
