/** https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format */
const RESERVED = String.raw`\\|{}@[\]()<>#*_~`;
const EACH_RESERVED = new RegExp(`[${RESERVED}]`, "g");
/**
 * Read from left to right, so that nothing is escaped twice: an address as a whole, for a `#` in it begins no hashtag;
 * then a hashtag at the start of a word; then any character that means something to LinkedIn.
 */
const TOKEN = new RegExp(
  String.raw`https?:\/\/\S+|(?<![\p{L}\p{M}\p{N}_#&])#([\p{L}\p{M}\p{N}_]+)|[${RESERVED}]`,
  "giu",
);
const WRITTEN = new RegExp(String.raw`\{hashtag\|\\?([#＃])\|([^{}]*)\}|\\([${RESERVED}])`, "gu");

/**
 * Plain text in LinkedIn's own format. What a reader sees is the text itself; a reserved character that went out as it
 * is would end the published text there. In addresses, too, it is escaped with a backslash and not percent-encoded,
 * which would lead to another page where the server tells the two apart.
 */
export function littleText(text: string): string {
  return text.replace(TOKEN, (token: string, tag?: string) => {
    if (token.length === 1) return `\\${token}`;
    // `#1` is a number to everybody.
    return tag !== undefined && /\p{L}/u.test(tag) ? hashtag(tag) : escaped(token);
  });
}

function hashtag(tag: string): string {
  return String.raw`{hashtag|\#|${escaped(tag)}}`;
}

function escaped(text: string): string {
  return text.replace(EACH_RESERVED, String.raw`\$&`);
}

/** What a reader sees of a commentary; links to people and pages stay as they are written. */
export function plainText(commentary: string): string {
  return commentary.replace(
    WRITTEN,
    (_written: string, sign?: string, tag?: string, reserved?: string) =>
      reserved ?? `${sign ?? ""}${plainText(tag ?? "")}`,
  );
}
