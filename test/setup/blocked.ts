/** The CPU time of this thread in milliseconds. It does not advance while other programs have the processor. */
const ownMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Begins to watch how long this thread lets nothing else run: the longest time that it was at work between two ticks of
 * a timer. It counts CPU time, so that a machine with other work does not look like a thread that paused.
 */
export function watchThread(tickMs = 5): { restart: () => void; end: () => number } {
  let last = ownMs();
  let longest = 0;
  const look = () => {
    const now = ownMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, tickMs);
  return {
    restart() {
      last = ownMs();
      longest = 0;
    },
    end() {
      look();
      clearInterval(timer);
      return Math.round(longest);
    },
  };
}
