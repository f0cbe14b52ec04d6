import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { CallEnd } from "../call.ts";

/** What a phase of a call comes to. Only `applyStep` writes it. */
export type Step =
  | { readonly kind: "continue" }
  | Wait
  | { readonly kind: "end"; readonly end: CallEnd }
  /** Somebody else has changed the leg. */
  | { readonly kind: "lost" };

export type Wait =
  /**
   * The call was certainly not made (`attempt`), or its outcome is unknown (`look`). It waits by its schedule, and as long
   * as it was asked to. When its time is over, the failure ends it.
   */
  | {
      readonly kind: "wait";
      readonly waitsFor: "attempt" | "look";
      readonly failure: LegFailure;
      readonly seconds?: number | undefined;
      /** The network says that it works on the call: it is asked earlier at first. */
      readonly isPoll?: true | undefined;
    }
  /**
   * The network works on the files, or it is not the leg's turn: its account is busy, its process stops. It waits for
   * exactly so long, which uses up nothing.
   */
  | {
      readonly kind: "wait";
      readonly waitsFor: "network" | "turn";
      readonly seconds: number;
    };

export const GO_ON: Step = { kind: "continue" };
export const LOST: Step = { kind: "lost" };

export const failed = (failure: LegFailure): Step => ({
  kind: "end",
  end: { kind: "failed", failure },
});

/** Returns a failure that no network has named. */
export const plain = (code: LegFailure["code"], networkCode: string | null = null): LegFailure => ({
  code,
  networkCode,
});
