const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const CHARACTERS = 13;
const CLOCK_ID_BITS = 10n;
const MICROSECONDS_MAX = 2n ** 53n;

/**
 * A timestamp identifier: 53 bits of microseconds and 10 bits of clock id, written so that text order is time order.
 * https://atproto.com/specs/tid
 */
export function timestampId(microseconds: bigint, clockId: number): string {
  if (microseconds < 0n || microseconds >= MICROSECONDS_MAX) {
    throw new RangeError("a timestamp identifier holds 53 bits of microseconds");
  }
  if (!Number.isInteger(clockId) || clockId < 0 || clockId > 1023) {
    throw new RangeError("a clock id is a number of 10 bits");
  }
  let rest = (microseconds << CLOCK_ID_BITS) | BigInt(clockId);
  let text = "";
  for (let position = 0; position < CHARACTERS; position += 1) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text;
    rest >>= 5n;
  }
  return text;
}
