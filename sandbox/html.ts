export { escapeHtml } from "../src/shared/runtime/markup.ts";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#b4531a"/><path d="M6 10h20M9 10l2 13h10l2-13" fill="none" stroke="#fff" stroke-width="2.5"/></svg>`;

/** The mark of the sandbox's pages, so that nobody mistakes them for the relay's. */
export const ICON = `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(SVG)}">`;

/** The address itself when it is safe to be clicked, else nothing. */
export function safeHref(address: string): string | undefined {
  return /^https?:\/\//i.test(address) ? address : undefined;
}
