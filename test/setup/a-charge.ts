import type { Charge } from "../../src/shared/ledger/ledger.ts";

/** A charge by the system for a call that belongs to no post. */
export function aCharge(operationId: string, tokens: number, more: Partial<Charge> = {}): Charge {
  return {
    operationId,
    operation: "posts.validate",
    tokens,
    applicationId: null,
    profileId: null,
    postId: null,
    network: null,
    actor: { kind: "system", id: "test" },
    requestId: "req_test",
    ...more,
  };
}
