import type { Properties } from "./table-model.ts";

/** One comparison of a filter: a property or a key with a text. */
interface Comparison {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

/** Alternatives, one of which has to hold. */
type Clause = readonly Comparison[];

export interface Filter {
  readonly partitionKey: string | undefined;
  /** Keys of partitions, first inclusive, then exclusive. */
  readonly fromPartition: string;
  readonly beforePartition: string | undefined;
  /** Row keys of the partition, first inclusive, then exclusive. */
  readonly from: string;
  readonly before: string | undefined;
  /** Says more than which partition and which row keys. */
  readonly isSelective: boolean;
  fits(partitionKey: string, rowKey: string, properties: Properties): boolean;
}

const COMPARISON = /(\w+) (eq|ge|lt) '((?:[^']|'')*)'/y;

function beyond(filter: string): Error {
  return new Error(`the model does not know the filter ${filter}`);
}

/** The clauses of a filter as the product writes them; another one is beyond the model, and says so. */
function clausesOf(filter: string): Clause[] {
  const clauses: Clause[] = [];
  let at = 0;
  const skip = (text: string): boolean => {
    const isThere = filter.startsWith(text, at);
    if (isThere) at += text.length;
    return isThere;
  };
  const comparison = (): Comparison => {
    COMPARISON.lastIndex = at;
    const [whole = "", name = "", operator = "", value = ""] = COMPARISON.exec(filter) ?? [];
    if (whole === "") throw beyond(filter);
    at += whole.length;
    return { name, operator, value: value.replaceAll("''", "'") };
  };
  while (at < filter.length) {
    if (clauses.length > 0 && !skip(" and ")) throw beyond(filter);
    const isGroup = skip("(");
    const clause = [comparison()];
    if (isGroup) {
      while (skip(" or ")) clause.push(comparison());
      if (!skip(")")) throw beyond(filter);
    }
    clauses.push(clause);
  }
  return clauses;
}

function holds({ operator, value }: Comparison, stored: unknown): boolean {
  // A row without the property fits no comparison with it.
  if (typeof stored !== "string") return false;
  if (operator === "eq") return stored === value;
  return operator === "ge" ? stored >= value : stored < value;
}

export function parseFilter(filter: string): Filter {
  const clauses = clausesOf(filter);
  const single = (name: string, operator: string) =>
    clauses.find(
      ([one, ...more]) => more.length === 0 && one?.name === name && one.operator === operator,
    )?.[0]?.value;
  const partitionKey = single("PartitionKey", "eq");
  const isRange = ([one, ...more]: Clause) =>
    more.length === 0 &&
    (one?.name === "PartitionKey" || (one?.name === "RowKey" && one.operator !== "eq"));
  return {
    partitionKey,
    fromPartition: single("PartitionKey", "ge") ?? "",
    beforePartition: single("PartitionKey", "lt"),
    from: single("RowKey", "ge") ?? "",
    before: single("RowKey", "lt"),
    isSelective: !clauses.every(isRange),
    fits(partition, rowKey, properties) {
      const valueOf = (name: string) => {
        if (name === "PartitionKey") return partition;
        return name === "RowKey" ? rowKey : properties[name];
      };
      return clauses.every((clause) => clause.some((one) => holds(one, valueOf(one.name))));
    },
  };
}
