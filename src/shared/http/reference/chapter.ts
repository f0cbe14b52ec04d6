import type { Route } from "../route.ts";

/** Routes that are read together: a chapter of the specification and of the reference. */
export interface Chapter {
  readonly name: string;
  readonly about: string;
  readonly routes: readonly Route[];
}
