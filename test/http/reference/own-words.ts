interface Told {
  readonly path: string;
  readonly message: string;
}

/** How the schemas' library puts it, and what our words fall back on where nobody has thought of them. */
const NOT_OURS =
  /\b(Invalid|Unrecognized|Too (big|small)|expected\b|received|undefined|NaN|something else|is invalid\.|another length|of the form)/;

/** A name of a field without quotes. A place in a path or behind a dot has none. */
const BARE_NAME = /(?<![\w"`{/.])[a-z]+[A-Z]\w*|\bthan from\b|\bbefore from\b/;

/** Returns the messages of validation that are no whole sentence of ours about the field, or repeat each other. */
export function foreignWords(issues: readonly Told[] = []): readonly string[] {
  const messages = issues.map(({ message }) => message);
  const isOurs = ({ path, message }: Told) => {
    const name = path === "body" ? "The body " : `"${path.slice(0, 100).toWellFormed()}`;
    const words = message.slice(name.length);
    const isQuoted = !BARE_NAME.test(words.slice(words.indexOf('"')));
    return message.startsWith(name) && message.endsWith(".") && !NOT_OURS.test(words) && isQuoted;
  };
  const twice = messages.filter((message, index) => messages.indexOf(message) !== index);
  return [...issues.filter((issue) => !isOurs(issue)).map(({ message }) => message), ...twice];
}
