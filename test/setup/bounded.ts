import type { BoundedValue, BoundedAccount } from "../../src/shared/networks/contract/bounded.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";

/** Takes a value of a test, which is small, for one that may be part of a row. */
export const bounded = <Of>(value: Of) => value as BoundedValue<Of>;

/** Takes an account of a test for one that may be stored. */
export const boundedLinked = ({
  credentials,
  limits,
  ...linked
}: LinkedAccount): BoundedAccount => ({
  ...linked,
  credentials: bounded(credentials),
  limits: bounded(limits),
});
