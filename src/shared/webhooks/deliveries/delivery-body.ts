import { eventPayload, type Event } from "../events/event.ts";

export const BODY_BYTES_MAX = 64 * 1024;
/** Of a post's text, where the whole does not fit. */
const TEXT_CHARACTERS = 1_000;
const ITEMS_MAX = 20;
/** The longest that texts may be, tried in this order. None of our ids, codes, states and times is longer than the last. */
const CHARACTERS_TRIED = [256, 64, 40] as const;

type Data = Event["data"];

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** At most that long, ending in `…` where something is missing; never cut inside a surrogate pair. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 2);
  const isSplit = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, charactersMax - (isSplit ? 2 : 1))}…`;
}

/** What its sender knows anyway goes first: what became of the post stays whole. */
function withoutContent({ post, ...others }: Data, more: Readonly<Record<string, unknown>>): Data {
  if (!isRecord(post)) return { post, ...others };
  const text = cut(typeof post["text"] === "string" ? post["text"] : "", TEXT_CHARACTERS);
  const empty = { mediaUrls: [], altTexts: [], platformOptions: {} };
  return { post: { ...post, text, ...empty, ...more }, ...others };
}

/** With every text and list cut, wherever it is: what networks tell of accounts and refusals has no length of ours. */
function withShortTexts(value: unknown, charactersMax: number): unknown {
  if (typeof value === "string") return cut(value, charactersMax);
  if (Array.isArray(value))
    return value.slice(0, ITEMS_MAX).map((item) => withShortTexts(item, charactersMax));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withShortTexts(part, charactersMax)]),
  );
}

/** What may be sent of an event's things in place of all of it, from nearly everything to nothing. */
function* shorterData(data: Data): Generator<Data> {
  yield withoutContent(data, {});
  const bare = withoutContent(data, { metadata: {} });
  // Safe: a record stays one.
  for (const charactersMax of CHARACTERS_TRIED) yield withShortTexts(bare, charactersMax) as Data;
}

/**
 * The bytes that every attempt of every delivery of an event sends, 64 KiB at most: of a larger event as much as fits,
 * which says of itself that it is `truncated`. It depends on the event alone.
 */
export function deliveryBody(event: Event): string {
  const payload = eventPayload(event);
  const whole = JSON.stringify(payload);
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  for (const data of shorterData(event.data)) {
    const body = JSON.stringify({ ...payload, data, truncated: true });
    if (Buffer.byteLength(body) <= BODY_BYTES_MAX) return body;
  }
  return JSON.stringify({ ...payload, data: {}, truncated: true });
}
