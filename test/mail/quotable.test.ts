import { simpleParser } from "mailparser";
import { describe, expect, test } from "vitest";
import { renderMail } from "../../src/shared/mail/render-mail.ts";
import { quotable } from "../../src/shared/mail/quotable.ts";
import { LOCALES } from "../../src/shared/runtime/locale.ts";

/** Names that a mail program, a phone or a reader's browser takes for a link, an address or a number to dial. */
const LINKS = [
  "https://evil.example",
  "http:\u202e//203.0.113.5/",
  "mail me@here",
  "WWW.evil",
  "evil.example",
  "ünı.example",
  "evil\u0007.example",
  "login365.com",
  "paypa1.com",
  "Open relay-login1.com now",
  "g0.gl/x",
  "x1.co",
  "1.1.1.1/x",
  "203.0.113.5",
  "evil。com",
  "evil．com",
  "evil｡com",
  "evil․com",
  "evil…com",
  "evil\u200b.\u200bcom",
  "evil\u00ad.com",
  "ｅｖｉｌ．ｃｏｍ",
  "evil ．com",
  "tel:+49 89 1234567",
  "call +49 89 1234567",
  "(555) 010-4477",
  "٠١٢٣٤٥٦٧",
  "Your code: 1234 acct2.io",
  "mailto:a",
  "xn--80ak6aa92e.com",
  "кто.рф",
  "example.com.",
  "example.com, your bank",
  "sip:you",
  "file:\\\\server\\share",
  "\\\\server\\share",
  "//evil",
  "evil.com/..",
  "a@b",
  "＠here",
  "a：b",
  "a／b",
  "<a href=x>",
];

const QUOTED = [
  ["Corner Bakery", "Corner Bakery"],
  ["  Two\r\nlines\u0007 ", "Two lines"],
  ["St. John's, No. 7", "St. John's, No. 7"],
  ["Müller & Söhne – Köln (Ehrenfeld)", "Müller & Söhne – Köln (Ehrenfeld)"],
  ["東京ベーカリー", "東京ベーカリー"],
  ["مخبز الزاوية", "مخبز الزاوية"],
  ["कोने की बेकरी", "कोने की बेकरी"],
  ["Studio 54, Est. 1977!", "Studio 54, Est. 1977!"],
  ["x".repeat(61), `${"x".repeat(59)}…`],
  ["right\u202eto left", "rightto left"],
  ["Version 2.0", "Version 2.0"],
  ["(v1.4.2), from 9:30", "(v1.4.2), from 9:30"],
  ["24/7 Fitness", "24/7 Fitness"],
  ["AC/DC | Fans = 100 €, 🍕 <3", "AC/DC | Fans = 100 €, 🍕 <3"],
  [".NET Meetup No. 5.", ".NET Meetup No. 5."],
  ["Since 1998, 80331 München", "Since 1998, 80331 München"],
  // What could be an address has a space in it, and what could be dialled ends.
  ["Node.js Meetup", "Node. js Meetup"],
  ["Dr.Oetker (Nr.1)", "Dr. Oetker (Nr. 1)"],
  ["login365.com", "login365. com"],
  ["https://evil.example", "https: / /evil. example"],
  ["me@here", "me@ here"],
  ["10.0.0.1", "10. 0. 0. 1"],
  ["10.0.0.1.", "10. 0. 0. 1."],
  ["2.0.evil.com", "2. 0. evil. com"],
  ["1.5x.com", "1. 5x. com"],
  ["(555) 010-4477", "(555) 010…"],
  ["Call 089/1234567 now", "Call 089/123…"],
  ["", ""],
  ["\u200e \u202e", ""],
] as const;

const render = (locale: (typeof LOCALES)[number], platform: string) => {
  const mail = { from: "relay@example.net" };
  const service = { name: "Relay", url: undefined, supportUrl: undefined };
  const content = { kind: "invitation", to: "reader@example.com", locale } as const;
  // Safe: an invitation reads nothing else of the settings.
  const config = { service, mail } as unknown as Parameters<typeof renderMail>[0];
  const at = { id: "one", createdAt: "2026-03-04T10:00:00.000Z" };
  return renderMail(config, at, { ...content, names: { platform } });
};

/** Makes links of a text, as a mail program does. */
async function linked(text: string): Promise<string> {
  const parsed = await simpleParser(`Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`);
  return parsed.textAsHtml ?? "";
}

describe("a name in a mail", () => {
  test.each(QUOTED)("%j is quoted as %j", (name, quoted) => {
    expect(quotable(name)).toBe(quoted);
  });

  test("is a link for a mail program when it is not broken", async () => {
    for (const name of ["“login365.com”", "me@evil.com", "//evil.com", "10.0.0.1/x"])
      expect(await linked(`You're invited to join ${name} at Relay.`)).toContain("<a ");
  });

  test.each(LINKS)("%j is neither a link nor a number to dial, and is readable", async (name) => {
    for (const locale of LOCALES) {
      const { subject, text, html } = render(locale, name);
      const read = html.replace(/<style[^]*?<\/style>|<[^>]*>/g, " ");
      for (const whole of [`${subject}\r\n${text}`, read, `at ${quotable(name)} now`]) {
        // The reader's own address, in the table.
        const part = whole.replaceAll("reader@example.com", "");
        expect(await linked(part)).not.toContain("<a ");
        expect(part).not.toMatch(/(?:\p{Nd}[ \-–(),./+]*){7}/u);
      }
      expect(text).toContain(quotable(name));
    }
  });
});
