/** Runs a benchmark and ends the process with it: what its relay does at intervals would find its storage gone. */
export function runBench(main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
