import type { Services } from "../../src/shared/compose.ts";
import type { Rewrite } from "../model/machine.ts";

/** The product, or the product with one of its safeguards taken away. */
export interface Mutant {
  readonly name: string;
  /** Runs of different mutants lie in different years: ids never go back in time within a process. */
  readonly era: number;
  readonly rewrite?: Rewrite;
  readonly services?: (services: Services) => Services;
  readonly isSwept?: boolean;
  /** Only seeds that this divides have what shows it. */
  readonly every?: number;
  /** A seed that shows it, where it takes many to find one: `npm test` begins there. */
  readonly firstSeed?: number;
  /** Changes what lies beyond services for the time of a run; answers how to change it back. */
  readonly install?: () => () => void;
}

export const THE_PRODUCT: Mutant = { name: "the product", era: 0 };
