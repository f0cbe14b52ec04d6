/** Refuses to start: what the Functions host can run, and this host can't. */
export class LackError extends Error {}

/** Gets each function that the Functions host can't index and leaves out, with the reason. */
export type OnLeftOut = (functionName: string, reason: string) => void;
