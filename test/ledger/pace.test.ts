import { array, assert, integer, nat, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { EMPTY_WALLET } from "../../src/shared/ledger/wallet.ts";
import { paced, secondsUntil, type Wallet } from "../../src/shared/ledger/ledger.ts";

const START = Date.parse("2030-01-31T10:00:00.000Z");
const at = (ms: number) => new Date(START + ms);

describe("a platform's pace", () => {
  test("lets the first fifty legs go at once and the others one after the other", () => {
    let wallet: Wallet = EMPTY_WALLET;
    const waits: number[] = [];
    for (let leg = 0; leg < 100; leg += 1) {
      const { paceUntil, startAt } = paced(wallet, 1, at(0), 10);
      wallet = { ...wallet, paceUntil };
      waits.push(secondsUntil(startAt, at(0)));
    }
    expect(waits.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 0));
    expect(waits.slice(50, 53)).toEqual([0.1, 0.2, 0.3]);
    expect(waits.at(-1)).toBeCloseTo(5);
  });

  test("a platform's pace is forgotten after a rest", () => {
    const tired = { ...EMPTY_WALLET, paceUntil: at(60_000).toISOString() };
    expect(paced(tired, 1, at(0), 10).startAt).toEqual(at(55_100).toISOString());
    expect(paced(tired, 1, at(60_000), 10).startAt).toBeNull();
  });

  test("a platform's pace never lets more start in any second than it says, however they are asked for", () => {
    const asked = array(record({ afterMs: nat(2_000), legs: integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 120,
    });
    assert(
      property(asked, (asks) => {
        let wallet: Wallet = EMPTY_WALLET;
        let now = 0;
        const starts: { readonly ms: number; readonly legs: number }[] = [];
        for (const { afterMs, legs } of asks) {
          now += afterMs;
          const { paceUntil, startAt } = paced(wallet, legs, at(now), 10);
          wallet = { ...wallet, paceUntil };
          const ms = startAt === null ? now : Date.parse(startAt) - START;
          expect(ms).toBeGreaterThanOrEqual(now);
          starts.push({ ms, legs });
        }
        for (const { ms: from } of starts) {
          const inTenSeconds = starts.filter(({ ms }) => ms >= from && ms < from + 10_000);
          const legs = inTenSeconds.reduce((sum, start) => sum + start.legs, 0);
          // Fifty at once, and ten a second after them.
          expect(legs).toBeLessThanOrEqual(50 + 100 + 5);
        }
      }),
    );
  });
});
