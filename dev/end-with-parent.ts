/**
 * A program has no idea of its parent, and a parent that is killed cannot stop it. With this as an `--import` flag it
 * gets a pipe as its standard input instead, which the operating system closes when the parent goes, however it goes.
 * The pipe must not keep the program alive: some end by having nothing left to do.
 */
export const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  'process.stdin.resume().on("close", () => process.kill(process.pid, "SIGTERM")); process.stdin.unref();',
)}`;
