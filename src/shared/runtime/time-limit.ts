/**
 * Waits for `work` for this long. Settles as `work` does, or as `late` does when that takes longer: the work then goes
 * on, and nobody learns how it ends. The timer keeps no process alive.
 */
export async function withTimeLimit<Result, Late>(
  ms: number,
  work: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  timer.unref();
  try {
    return await Promise.race([work, isOver.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
