/** Waits, until the signal at the longest. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const end = (): void => resolve();
  signal.addEventListener("abort", end, { once: true });
  await promise;
  signal.removeEventListener("abort", end);
  clearTimeout(timer);
}
