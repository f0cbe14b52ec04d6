const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};
const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi;
const CODE_POINT_MAX = 0x10ffff;

/** Text of an attribute or element: character references are resolved, names that are not common ones stay. */
export function unescapeHtml(text: string): string {
  return text.replace(
    REFERENCE,
    (reference: string, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? reference;
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return point > 0 && point <= CODE_POINT_MAX ? String.fromCodePoint(point) : "";
    },
  );
}

const TAG_CHARACTERS_MAX = 10_000;

/** One walk from `<` to `>`: whatever a server sends, no character is looked at again and again. */
function withoutTags(html: string): string {
  let text = "";
  let end = -1;
  let from = 0;
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", from)) {
    if (end < at) end = html.indexOf(">", at);
    if (end === -1) break;
    const isTag = end - at - 1 <= TAG_CHARACTERS_MAX;
    text += html.slice(from, isTag ? at : at + 1);
    from = isTag ? end + 1 : at + 1;
  }
  return text + html.slice(from);
}

/** What is left of a fragment of HTML without its tags. */
export function textOfHtml(html: string): string {
  return unescapeHtml(withoutTags(html.replace(/<br\s*\/?>|<\/p>/gi, "\n")));
}
