const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\n\r]*/y;

/** What may come next in a text of JSON. */
type Expectation = "value" | "value or ]" | "name" | "name or }" | "colon" | "after";

/**
 * Says where a text stops being JSON, and what is expected there: "line 2, column 5: expected a colon". Nothing of the
 * text is repeated, because it may be secret. `JSON.parse` tells some of its problems without their position.
 * @param text text that `JSON.parse` refuses
 */
export function jsonProblem(text: string): string {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let wanted: Expectation = "value";
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  for (;;) {
    skip(SPACE);
    const sign = text[at];
    const inside = open.at(-1);
    const isEnd = sign === (inside === "{" ? "}" : "]");
    if (wanted === "colon") {
      if (sign !== ":") break;
      at += 1;
      wanted = "value";
    } else if (wanted === "after") {
      if (inside === undefined || (sign !== "," && !isEnd)) break;
      at += 1;
      if (isEnd) open.pop();
      else wanted = inside === "{" ? "name" : "value";
    } else if ((wanted === "value or ]" || wanted === "name or }") && isEnd) {
      at += 1;
      open.pop();
      wanted = "after";
    } else if (wanted === "name" || wanted === "name or }") {
      if (!skip(STRING)) break;
      wanted = "colon";
    } else if (sign === "{" || sign === "[") {
      at += 1;
      open.push(sign);
      wanted = sign === "{" ? "name or }" : "value or ]";
    } else {
      if (!skip(STRING) && !skip(NUMBER_OR_WORD)) break;
      wanted = "after";
    }
  }
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1;
  const place = `line ${line}, column ${column}`;
  return at >= text.length
    ? `it ends too early (${place}), where ${expectationWords(wanted, open.at(-1))} is expected`
    : `at ${place}, ${expectationWords(wanted, open.at(-1))} is expected`;
}

function expectationWords(wanted: Expectation, inside: "{" | "[" | undefined): string {
  switch (wanted) {
    case "value":
      return "a value";
    case "value or ]":
      return "a value or `]`";
    case "name":
      return "a name in double quotes";
    case "name or }":
      return "a name in double quotes or `}`";
    case "colon":
      return "a colon";
    case "after":
      if (inside === undefined) return "the end";
      return inside === "{" ? "a comma or `}`" : "a comma or `]`";
  }
}
