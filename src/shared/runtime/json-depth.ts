/** More than any answer or request has, and little enough for everything that walks through it. */
export const JSON_DEPTH_MAX = 200;

const [QUOTE, BACKSLASH] = [34, 92];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [91, 93, 123, 125];

/**
 * Reports whether JSON is nested deeper than `JSON_DEPTH_MAX`. Parsing such text takes ten times as long as other text
 * of its length, and some 80 bytes of memory for each character.
 */
export function isNestedTooDeep(text: string): boolean {
  if (text.length <= 2 * JSON_DEPTH_MAX) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === LIST || code === OBJECT) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return true;
    } else if (code === LIST_END || code === OBJECT_END) depth -= 1;
  }
  return false;
}
