import { describe, expect, test } from "vitest";
import type { MailKind } from "../../src/shared/mail/mail.ts";
import { renderMail } from "../../src/shared/mail/render-mail.ts";
import de from "../../src/shared/mail/words/de.json" with { type: "json" };
import en from "../../src/shared/mail/words/en.json" with { type: "json" };
import es from "../../src/shared/mail/words/es.json" with { type: "json" };
import fr from "../../src/shared/mail/words/fr.json" with { type: "json" };
import pt from "../../src/shared/mail/words/pt.json" with { type: "json" };
import { LOCALES, type Locale } from "../../src/shared/runtime/locale.ts";
import { readable } from "../connections/browser.ts";

const WORDS = { en, de, fr, es, pt } as const;
const KINDS = Object.keys(en.mails) as readonly MailKind[];
const LOG_IN =
  /\blog(?:ging)?[ -]?in|\bsign(?:s|ing)?[ -]in|anmeld|melde\w* sich|se connecter|connectez|connexion|inici\w* sesi|inici\w* sess/i;
const DASHBOARD = "https://dashboard.example.com/";
const SUPPORT = "https://help.example.com/";
const LINK = "https://relay.example.com/api/v1/auth/ui/reset?token=A";
const OWN_LINK: ReadonlySet<MailKind> = new Set(["verify", "reset", "email", "invitation"]);

function letter(
  kind: MailKind,
  locale: Locale,
  urls: { readonly supportUrl?: string; readonly dashboardUrl?: string } = {},
) {
  // Safe: nothing else of the settings is read.
  const config = {
    service: { name: "Relay", url: "https://relay.example.com", ...urls },
    mail: { from: "relay@example.com" },
  } as unknown as Parameters<typeof renderMail>[0];
  const values = {
    inviter: "dana@example.com",
    role: "member",
    address: "203.0.113.9",
    email: "ada@example.com",
    key: "key_1",
    application: "app_1",
    date: "2026-12-05",
    low: "100",
  };
  const link = OWN_LINK.has(kind) ? { link: LINK } : {};
  const content = { kind, to: "ada@example.com", locale, values, ...link } as const;
  const names = { platform: "Demo platform" };
  const at = { id: "mal_1", createdAt: "2026-11-28T19:00:00.000Z" };
  return renderMail(config, at, { ...content, names });
}

describe.each(LOCALES)("mails in %s", (locale) => {
  test("speak of logging in only where there is a page for it, and then lead there", () => {
    for (const kind of KINDS) {
      const { subject, text } = letter(kind, locale);
      expect([kind, `${subject} ${text}`]).not.toEqual([kind, expect.stringMatching(LOG_IN)]);
    }
    const { html, text } = letter("newLogIn", locale, { dashboardUrl: DASHBOARD });
    expect(text).toMatch(LOG_IN);
    // Login is the last step of what to do, and a link of the mail's own the first.
    const [, advice = ""] = WORDS[locale].mails.newLogIn.lines;
    expect(text.indexOf(advice)).toBeGreaterThan(0);
    expect(text.indexOf(DASHBOARD)).toBeGreaterThan(text.indexOf(advice));
    expect(html.indexOf(`<a href="${DASHBOARD}"`)).toBeGreaterThan(
      html.indexOf("</table>", html.indexOf("<th")),
    );
    const reset = letter("reset", locale).text;
    expect(reset.indexOf(LINK)).toBeLessThan(
      reset.indexOf(WORDS[locale].mails.reset.lines[1] ?? ""),
    );
    expect(html).toContain(`<a href="${DASHBOARD}"`);
  });

  test("ask to tell the operators only where there is an address for it", () => {
    const told = KINDS.filter((kind) => {
      const withAddress = letter(kind, locale, { supportUrl: SUPPORT }).text.split("-- ")[0] ?? "";
      const without = letter(kind, locale).text;
      expect(without).not.toMatch(/\{\w+\}|tell us|avise-nos|avísanos|prévenez-nous|bei uns/i);
      return withAddress.includes(SUPPORT);
    });
    expect(told.length).toBeGreaterThan(5);
  });

  test("begin with as much as lists of mails show, and let nothing else follow there", () => {
    for (const kind of KINDS) {
      const { html } = letter(kind, locale);
      const [, hidden = ""] = /<div style="display:none[^"]*mso-hide:all">([^<]*)/.exec(html) ?? [];
      const [, shown = "", space = ""] =
        /^(.*?)((?:\u034f\u200c\u00a0)*)$/u.exec(hidden.replaceAll("&#39;", "'")) ?? [];
      expect([kind, shown, shown.length >= 30 && shown.length <= 90]).toEqual([kind, shown, true]);
      expect(shown).toMatch(/[.!…]$/);
      expect(shown.length + space.length / 3).toBe(150);
    }
  });

  test("fit into what Gmail shows without cutting", () => {
    for (const kind of KINDS) {
      const { html } = letter(kind, locale, { supportUrl: SUPPORT, dashboardUrl: DASHBOARD });
      // Mail programs drop the elements "html" and "body", and with them the language that a screen reader speaks.
      expect(html).toMatch(new RegExp(`<div\\s+role="article"[^>]*\\slang="${locale}"`));
      expect(Buffer.byteLength(html)).toBeLessThan(102_000 / 2);
    }
  });
});

test("the subject of an invitation says who invited to what", () => {
  expect(letter("invitation", "en").subject).toBe(
    "dana@example.com invited you to “Demo platform”",
  );
});

test("a mail says in a table what happened to whom, when and from where", () => {
  const { html, text } = letter("newLogIn", "en");
  expect(text).toContain("Account: ada@example.com\nWhen: 2026-11-28 19:00 UTC\nFrom: 203.0.113.9");
  const rows = [
    ...html.matchAll(/<th[^>]*>\s*<span[^>]*>([^<]*)<\/span>\s*<\/th>\s*<td[^>]*>([^<]*)</g),
  ];
  expect(rows.map(([, name = "", value = ""]) => [name, value.trim()])).toEqual([
    ["Account", "ada@example.com"],
    ["When", "2026-11-28 19:00 UTC"],
    ["From", "203.0.113.9"],
  ]);
});

test("a mail carries the service's name, its first line for lists of mails, and the address once more as text", () => {
  const { html, subject } = letter("reset", "en");
  const [, hidden = ""] = /<div style="display:none[^"]*mso-hide:all">([^<]*)/.exec(html) ?? [];
  expect(hidden).toMatch(/^Someone requested a new password/);
  expect(html).toMatch(new RegExp(`<strong>Relay</strong>[^]*<h1[^>]*>\\s*${subject}\\s*</h1>`));
  expect(html.match(new RegExp(`>${LINK.replaceAll("?", "\\?")}<`, "g"))).toHaveLength(1);
});

test("a mail can be read and used in Outlook on Windows, which draws what Word knows", () => {
  const { html } = letter("invitation", "en");
  // Word has tables, cells with a color and padding, and no padding of links, widths at most, or rounded corners.
  expect(html).toMatch(/<td\s+bgcolor="#2457d6"\s+style="padding:10px 18px[^"]*"\s*>\s*<a href/);
  expect(html).toMatch(/<table[^>]*width="560"/);
  const inWord = html.replace(/(?:max-width|border-radius|opacity|overflow-wrap):[^;"]*;?/g, "");
  expect(readable(inWord)).toBe(readable(html));
  expect(inWord).toMatch(/color:#ffffff/);
  // Word makes a table as wide as a word that it may not break.
  expect(inWord).toMatch(new RegExp(`word-break:break-all"\\s*>${LINK.replaceAll("?", "\\?")}`));
});
