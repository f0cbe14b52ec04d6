/** What is left of a figure on a machine that has other work to do: ten times as much is tolerated. */
export const IS_EXACT = process.env["EXACT_BOUNDS"] === "true";
const FACTOR = IS_EXACT ? 1 : 10;

/** A bound of time in milliseconds that attacks are held to: the figure itself in the long check. */
export const tolerated = (figureMs: number): number => figureMs * FACTOR;

/** How long a test waits for what comes by itself: a slow machine is no failure. vitest waits for a second. */
export const PATIENCE_MS = 60_000;
