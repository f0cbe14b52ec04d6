import type { Config } from "../config/config.ts";
import { fillText, type Locale } from "../runtime/locale.ts";
import { html, Markup } from "../runtime/markup.ts";
import type { StoredMail } from "./mail-store.ts";
import type { MailContent, MailKind, MailValues } from "./mail-content.ts";
import { shownTime } from "./notice.ts";
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
  readonly service: string;
  readonly subject: string;
  readonly lines: readonly string[];
  readonly items: readonly string[];
  /** What happened, in a table: labels and values. */
  readonly facts: readonly (readonly [string, string])[];
  readonly button: { readonly label: string; readonly link: string } | undefined;
  /** Whether the mail is about its button, which then stands before what to do otherwise. */
  readonly isForButton: boolean;
  /** Stands before the button's address, which is there once more as text. */
  readonly openAddress: string;
  readonly footer: readonly string[];
  /** The link that switches off mails of this kind. */
  readonly off: { readonly label: string; readonly link: string } | undefined;
}

/**
 * Mail programs remove style sheets, so each element has its own style. Outlook on Windows ignores what Word has not, such
 * as `max-width` and the padding of links: it goes by the tables and their attributes. Texts and ground have no colors,
 * so that they are those of light and dark modes.
 */
const FONT = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
const BUTTON_COLOR = "#2457d6";
const BUTTON = `${FONT};font-weight:600;color:#ffffff;text-decoration:none`;
const SMALL = "font-size:13px;line-height:1.5;opacity:0.8";
/** Returns the style of a line for light and dark grounds. Word takes the first color, because it knows no other. */
const lineStyle = (side: string) =>
  new Markup(`border${side}:1px solid #c9ced8;border${side}-color:rgba(128,136,150,0.4)`);
const TABLE = new Markup('role="presentation" cellpadding="0" cellspacing="0" border="0"');

function textPart(letter: Letter): string {
  const { lines, items, facts, button, isForButton, footer, off } = letter;
  const link = button === undefined ? [] : [`${button.label}:\n${button.link}`];
  const under = off === undefined ? [] : [`${off.label}: ${off.link}`];
  const [first = "", ...rest] = lines;
  const list = items.length === 0 ? [] : [items.map((item) => `* ${item}`).join("\n")];
  const table =
    facts.length === 0 ? [] : [facts.map(([name, value]) => `${name}: ${value}`).join("\n")];
  const below = isForButton ? [...link, ...rest] : [...rest, ...link];
  const end = `-- \n${[...footer, ...under].join("\n")}`;
  return `${[first, ...list, ...table, ...below, end].join("\n\n")}\n`;
}

/** How many characters of the text lists of mails show next to the subject, and how many they may show of what follows. */
const PREHEADER_MAX = 90;
const PREHEADER_MIN = 40;
const PREHEADER_SPACE = 150;
/** A space that is not seen, which keeps what follows a short preheader out of lists of mails. */
const UNSEEN_SPACE = "\u034f\u200c\u00a0";

/** Returns the sentences at the beginning of the text that lists of mails have room for, or if these are short, words. */
function preheader(locale: Locale, text: string): string {
  let [shown, next] = ["", ""];
  for (const { segment } of new Intl.Segmenter(locale, { granularity: "sentence" }).segment(text)) {
    next += segment;
    if (next.trimEnd().length <= PREHEADER_MAX) shown = next.trimEnd();
  }
  if (shown === next || shown.length >= PREHEADER_MIN) return shown;
  const end = text.lastIndexOf(" ", PREHEADER_MAX - 1);
  return `${text.slice(0, end > 0 ? end : PREHEADER_MAX - 1)}…`;
}

/** Begins with a preheader, unseen: lists of mails show the subject and the beginning of the text. */
function htmlPart(letter: Letter): string {
  const { locale, service, subject, lines, items, facts, footer, off } = letter;
  const [first = "", ...rest] = lines;
  const paragraph = (text: string) => html`<p style="margin:0 0 16px">${text}</p>`;
  const shown = preheader(locale, first);
  const begin = `${shown}${UNSEEN_SPACE.repeat(PREHEADER_SPACE - shown.length)}`;
  const [initial = ""] = service;
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
      <body style="margin:0;padding:24px 12px;overflow-wrap:anywhere;${new Markup(FONT)}">
        <div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${begin}</div>
        <div role="article" aria-roledescription="email" aria-label="${subject}" lang="${locale}">
          <table ${TABLE} width="100%">
            <tr>
              <td align="center">
                <table ${TABLE} width="560" style="width:100%;max-width:560px">
                  <tr>
                    <td
                      align="left"
                      style="padding:24px;${lineStyle("")};border-radius:14px;${new Markup(FONT)}"
                    >
                      <table ${TABLE} style="margin:0 0 24px">
                        <tr>
                          <td
                            bgcolor="${BUTTON_COLOR}"
                            width="32"
                            height="32"
                            align="center"
                            aria-hidden="true"
                            style="background:${BUTTON_COLOR};border-radius:8px;color:#ffffff;font-weight:600"
                          >
                            ${initial.toUpperCase()}
                          </td>
                          <td style="padding:0 0 0 12px"><strong>${service}</strong></td>
                        </tr>
                      </table>
                      <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3;text-wrap:balance">
                        ${subject}
                      </h1>
                      ${paragraph(first)}
                      ${
                        items.length > 0 &&
                        html`<ul style="margin:0 0 16px;padding-left:20px">
                          ${items.map((item) => html`<li style="margin:0 0 4px">${item}</li>`)}
                        </ul>`
                      }
                      ${facts.length > 0 && renderFacts(facts)}
                      ${
                        letter.isForButton
                          ? [...renderButton(letter, rest.map(paragraph))]
                          : [...rest.map(paragraph), ...renderButton(letter, [])]
                      }
                      <hr style="border:0;${lineStyle("-top")};margin:24px 0 12px" />
                      ${footer.map((line) => html`<p style="margin:0;${SMALL}">${line}</p>`)}
                      ${off !== undefined && html`<p style="margin:0;${SMALL}"><a href="${off.link}" style="color:inherit">${off.label}</a></p>`}
                    </td>
                  </tr>
                </table>
              </td>
            </tr>
          </table>
        </div>
      </body>
    </html> `.text;
}

/** Renders the button, what stands below it, and its address for those whose mail program draws no button. */
function renderButton({ button, openAddress }: Letter, below: readonly Markup[]): Markup[] {
  if (button === undefined) return [...below];
  return [
    html`<table ${TABLE} style="margin:0 0 16px">
      <tr>
        <td
          bgcolor="${BUTTON_COLOR}"
          style="padding:10px 18px;border-radius:10px;background:${BUTTON_COLOR}"
        >
          <a href="${button.link}" style="${new Markup(BUTTON)}">${button.label}</a>
        </td>
      </tr>
    </table>`,
    ...below,
    html`<p style="margin:0 0 16px;${SMALL}">
      ${openAddress}<br />
      <a href="${button.link}" style="color:inherit;word-break:break-all">${button.link}</a>
    </p>`,
  ];
}

function renderFacts(facts: Letter["facts"]): Markup {
  const rows = facts.map(
    ([name, value]) =>
      html`<tr>
        <th
          align="left"
          valign="top"
          style="padding:8px 16px 8px 0;${lineStyle("-bottom")};font-weight:400;white-space:nowrap"
        >
          <span style="opacity:0.8">${name}</span>
        </th>
        <td align="left" valign="top" width="100%" style="padding:8px 0;${lineStyle("-bottom")}">
          ${value}
        </td>
      </tr>`,
  );
  return html`<table
    cellpadding="0"
    cellspacing="0"
    border="0"
    width="100%"
    style="margin:0 0 24px;font-size:15px;line-height:1.5;${lineStyle("-top")}"
  >
    ${rows}
  </table>`;
}

/** What each mail's table says: what, who, when and from where, as far as it is known. */
const FACTS: Readonly<Record<MailKind, readonly (keyof MailWords["facts"])[]>> = {
  verify: ["account", "time"],
  reset: ["account", "time"],
  passwordChanged: ["account", "time", "address"],
  newLogIn: ["account", "time", "address"],
  wrongCodes: ["account", "time", "address"],
  secondFactorOn: ["account", "time", "address"],
  secondFactorOff: ["account", "time", "address"],
  roleChanged: ["email", "role", "time"],
  ownerRemoved: ["email", "time"],
  adminKeyMade: ["key", "application", "time"],
  connectionNeedsReauth: [],
  endpointDisabled: [],
  balanceLow: [],
  outcomeUnknown: [],
  email: ["account", "time"],
  emailAsked: ["account", "time", "address"],
  emailChanged: ["account", "time", "address"],
  operatorReset: ["email", "time"],
  platformClosed: ["time", "date"],
  platformReopened: ["time"],
  platformEnding: ["date"],
  invitation: ["platform", "inviter", "role", "account"],
};

/** Mails whose reader no longer has an account that is open. Login is no help there. */
const WITHOUT_ACCOUNT: ReadonlySet<MailKind> = new Set([
  "emailChanged",
  "ownerRemoved",
  "platformClosed",
  "platformEnding",
]);

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
  const { name, supportUrl: support, dashboardUrl } = service;
  const platform = quotedPlatform(locale, quotable(names?.platform ?? ""));
  const known: MailValues = {
    service: name,
    platform,
    account: to,
    time: shownTime(createdAt),
    tell: support === undefined ? "" : fillText(words.tell, { url: support }),
    ...inLanguage(words, values),
  };
  const filled = (sentence: string) => fillText(sentence, known).trim();
  const own = text.button !== undefined && link !== undefined && { label: text.button, link };
  const toLogIn = dashboardUrl !== undefined &&
    !WITHOUT_ACCOUNT.has(kind) && { label: words.logIn, link: dashboardUrl };
  const letter: Letter = {
    locale,
    service: name,
    subject: filled(text.subject),
    lines: text.lines.map(filled),
    items: itemsOf(words, text, list),
    facts: FACTS[kind].flatMap((fact) => {
      const value = known[fact] ?? "";
      return value === "" ? [] : [[words.facts[fact], value] as const];
    }),
    button: own || toLogIn || undefined,
    isForButton: own !== false,
    openAddress: words.openAddress,
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
