/**
 * Waits for `work` for this long. Settles as `work` does, or as `late` does after that time: the work then continues,
 * and its result is dropped. The timer does not keep the process alive.
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
