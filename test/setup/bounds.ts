/** What is left of a figure on a machine that has other work to do: ten times as much is tolerated. */
const FACTOR = process.env["EXACT_BOUNDS"] === "true" ? 1 : 10;

/** A bound of time in milliseconds that attacks are held to: the figure itself in the long check. */
export const tolerated = (figureMs: number): number => figureMs * FACTOR;
