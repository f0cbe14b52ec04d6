/** A verb of a module as other modules call it. */
export type Verb<Full> = Full extends (deps: never, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** Gives a verb of a module the part of the process that it takes first, so that other modules can call it without. */
export const bound =
  <Deps, Args extends unknown[], Result>(
    deps: Deps,
    verb: (deps: Deps, ...args: Args) => Result,
  ): ((...args: Args) => Result) =>
  (...args) =>
    verb(deps, ...args);
