import type { Config } from "../config/config.ts";
import { fillText, type Locale } from "../runtime/locale.ts";
import { html, Markup } from "../runtime/markup.ts";
import type { StoredMail } from "./mail-store.ts";
import type { MailContent, MailValues } from "./mail-content.ts";
import { oneLine, quotable } from "./quotable.ts";
import type { Message } from "./transport.ts";
import de from "./words/de.json" with { type: "json" };
import type { MailText, MailWords } from "./mail-words.ts";
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };
import pt from "./words/pt.json" with { type: "json" };

const WORDS: Readonly<Record<Locale, MailWords>> = { en, de, fr, es, pt };

interface Letter {
  readonly locale: Locale;
  readonly subject: string;
  readonly lines: readonly string[];
  readonly items: readonly string[];
  readonly button: { readonly label: string; readonly link: string } | undefined;
  readonly footer: readonly string[];
  /** The link that switches off mails of this kind. */
  readonly off: { readonly label: string; readonly link: string } | undefined;
}

/** Mail programs remove style sheets, so each element has its own style. The colours suit light and dark modes. */
const FONT = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
const BUTTON = `${FONT};font-weight:600;display:inline-block;padding:10px 18px;border-radius:10px;background:#2457d6;color:#ffffff;text-decoration:none`;
const SMALL = "font-size:13px;line-height:1.5;opacity:0.8";

function textPart({ lines, items, button, footer, off }: Letter): string {
  const link = button === undefined ? [] : [`${button.label}:\n${button.link}`];
  const under = off === undefined ? [] : [`${off.label}: ${off.link}`];
  const [first = "", ...rest] = lines;
  const list = items.length === 0 ? [] : [items.map((item) => `* ${item}`).join("\n")];
  return `${[first, ...list, ...link, ...rest, `-- \n${[...footer, ...under].join("\n")}`].join("\n\n")}\n`;
}

/** Has no heading: lists of mails show the subject and the beginning of the text, which would be the subject again. */
function htmlPart({ locale, subject, lines, items, button, footer, off }: Letter): string {
  const [first = "", ...rest] = lines;
  const paragraph = (line: string) => html`<p style="margin:0 0 16px">${line}</p>`;
  return html`<!doctype html>
    <html lang="${locale}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no" />
        <title>${subject}</title>
      </head>
      <body style="margin:0;padding:24px 16px;overflow-wrap:anywhere;${new Markup(FONT)}">
        <div style="max-width:560px;margin:0 auto">
          ${paragraph(first)}
          ${
            items.length > 0 &&
            html`<ul style="margin:0 0 16px;padding-left:20px">
              ${items.map((item) => html`<li style="margin:0 0 4px">${item}</li>`)}
            </ul>`
          }
          ${button !== undefined && html`<p style="margin:0 0 16px"><a href="${button.link}" style="${new Markup(BUTTON)}">${button.label}</a></p>`}
          ${rest.map(paragraph)}
          <hr style="border:0;border-top:1px solid #9ca3af;margin:24px 0 12px" />
          ${footer.map((line) => html`<p style="margin:0;${SMALL}">${line}</p>`)}
          ${off !== undefined && html`<p style="margin:0;${SMALL}"><a href="${off.link}" style="color:inherit">${off.label}</a></p>`}
        </div>
      </body>
    </html> `.text;
}

/** Returns the name of a platform, which its owner wrote, as part of a sentence of a page. A mail passes a quotable one. */
export function quotedPlatform(locale: Locale, name: string): string {
  const { quote, aTeam } = WORDS[locale];
  const text = oneLine(name);
  return text === "" ? aTeam : fillText(quote, { text });
}

/** Values that each language translates. */
const TRANSLATED = new Set(["role", "reason", "address"]);

function inLanguage({ values: words }: MailWords, values: MailValues): MailValues {
  const known: MailValues = words;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      TRANSLATED.has(name) ? (known[value] ?? value) : value,
    ]),
  );
}

function itemsOf(words: MailWords, { item = "" }: MailText, list: MailContent["list"]): string[] {
  if (list === undefined) return [];
  const items = list.items.map((values) => fillText(item, inLanguage(words, values)));
  return list.more === 0 ? items : [...items, fillText(words.more, { count: String(list.more) })];
}

/** Lets mail programs show a button that unsubscribes with one request (RFC 8058). */
const offHeaders = (url: string) => ({
  "List-Unsubscribe": `<${url}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

/**
 * Automatic answers that Exchange must not send (MS-OXCMAIL, 2.2.3.2.14), which doesn't go by `Auto-Submitted`: of all but
 * reports of non-delivery, by which operators learn of bounces.
 */
const SUPPRESSED_ANSWERS = "DR, RN, NRN, OOF, AutoReply";

/** Renders a mail as text and HTML in the reader's language. */
export function renderMail(
  { service, mail }: Pick<Config, "service" | "mail">,
  { id, createdAt }: Pick<StoredMail, "id" | "createdAt">,
  { kind, locale, to, link, values = {}, names, list, off }: MailContent,
): Message {
  const words = WORDS[locale];
  const text: MailText = words.mails[kind];
  const platform = quotedPlatform(locale, quotable(names?.platform ?? ""));
  const known = { service: service.name, platform, ...inLanguage(words, values) };
  const filled = (sentence: string) => fillText(sentence, known);
  const support = service.supportUrl;
  const letter: Letter = {
    locale,
    subject: filled(text.subject),
    lines: text.lines.map(filled),
    items: itemsOf(words, text, list),
    button:
      link === undefined || text.button === undefined ? undefined : { label: text.button, link },
    footer: [
      filled(words.footer.sentBy),
      ...(support === undefined ? [] : [fillText(words.footer.support, { url: support })]),
    ],
    off: off === undefined ? undefined : { label: words.footer.off, link: off },
  };
  const domain = mail?.from.split("@")[1] ?? "localhost";
  return {
    to,
    subject: letter.subject,
    text: textPart(letter),
    html: htmlPart(letter),
    messageId: `<${id}@${domain}>`,
    date: new Date(createdAt),
    headers: {
      // A message that nobody has: programs that go by subjects, such as Gmail, would show mails of one kind as one
      // conversation, and fold the latest, whose link alone works.
      References: `<${id}.alone@${domain}>`,
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": SUPPRESSED_ANSWERS,
      ...(off === undefined ? {} : offHeaders(off)),
    },
  };
}
