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
  "",
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
] as const;

describe("a name in a mail", () => {
  test.each(QUOTED)("%j is quoted as %j", (name, quoted) => {
    expect(quotable(name)).toBe(quoted);
  });

  test.each(LINKS)("%j is left out", (name) => {
    expect(quotable(name)).toBeUndefined();
  });

  test.each(LINKS.filter((name) => name !== ""))(
    "a platform named %j is in no part of an invitation",
    (name) => {
      const mail = { from: "relay@example.net" };
      const service = { name: "Relay", url: undefined, supportUrl: undefined };
      for (const locale of LOCALES) {
        const to = "reader@example.com";
        const content = { kind: "invitation", to, locale, names: { platform: name } } as const;
        const config = { service, mail } as unknown as Parameters<typeof renderMail>[0];
        const at = { id: "one", createdAt: "2026-03-04T10:00:00.000Z" };
        const { subject, text, html } = renderMail(config, at, content);
        const shown = name.trim();
        for (const part of [subject, text, html]) expect(part).not.toContain(`${shown}”`);
        expect(text).not.toContain(shown);
        expect(html.replace(/<!doctype[^]*?<h1/, "")).not.toContain(shown);
      }
    },
  );
});
