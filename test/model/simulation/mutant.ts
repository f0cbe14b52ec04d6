import type { Services } from "../../../src/shared/compose.ts";
import type { Tables } from "../../../src/shared/runtime/storage/tables.ts";

/** The product, or the product with one of its safeguards taken away. */
export interface Mutant {
  readonly name: string;
  /** Makes its runs others than those of the product and of other mutants. */
  readonly era: number;
  /** Changes the parts of a process. */
  readonly services?: (services: Services) => void;
  /** Other tables in the place of a process's own, in small models; `now` is the clock of the process. */
  readonly tables?: (tables: Tables, now: () => Date) => Tables;
  /** Only seeds that this divides have what shows it. */
  readonly every?: number;
  /** A seed that shows it, where it takes many to find one: `npm test` begins there. */
  readonly firstSeed?: number;
  /** Whether one seed of hundreds shows it, or only a large run: the long check has it, others break its rule sooner. */
  readonly isRare?: true;
  /** Whether customers of all its runs write first comments and remove posts. */
  readonly followsUp?: true;
  /** A small model that shows it, where it takes more than a run of the simulation has. */
  readonly shownBy?: (mutant: Mutant) => Promise<readonly string[]>;
  /** Changes what lies beyond services for the time of a run; answers how to change it back. */
  readonly install?: () => () => void;
}

export const THE_PRODUCT: Mutant = { name: "the product", era: 0 };
