import { simpleParser } from "mailparser";
import { beforeEach, describe, expect, test } from "vitest";
import type { MailKind } from "../../src/shared/mail/mail.ts";
import en from "../../src/shared/mail/words/en.json" with { type: "json" };
import { LOCALES, type Locale } from "../../src/shared/runtime/locale.ts";
import { startCuttingMailServer } from "../setup/cutting-mail-server.ts";
import { PASSWORD } from "../setup/factories.ts";
import { pairsOf } from "../setup/long-check.ts";
import { startRelay } from "../setup/relay.ts";
import { runWalks } from "../setup/walks.ts";
import { forFile } from "../setup/for-file.ts";

const server = forFile(() => startCuttingMailServer());
const relay = forFile(() =>
  startRelay({
    settings: {
      MAIL_URL: `smtp://127.0.0.1:${server.port}`,
      MAIL_FROM: "relay@example.net",
      SERVICE_NAME: 'The "Relay", Example & <Sons>',
      SUPPORT_URL: "https://help.example.net/?a=1&b=2",
    },
  }),
);
beforeEach(() => {
  server.taken.length = 0;
  server.recipients.length = 0;
});

const KINDS = Object.keys(en.mails) as readonly MailKind[];

const BREAKS = ["\r\n", "\n", "\r", "\u2028", "\u0085", "\0", "=?utf-8?q?=0D=0A?=", "%0d%0a"];
const ATTACKS: readonly string[] = [
  ...BREAKS.map(
    (end) =>
      `Ann${end}Bcc: victim@example.com${end}Subject: Free${end}${end}<script>alert(1)</script>`,
  ),
  `Ann\t\u202e\u0007 <b onclick="x">&amp;</b>`,
  "A".repeat(4_000),
];
const READER = "reader@example.com";

/** The placeholders of a mail, and others that somebody may think of. */
function placeholdersOf(kind: MailKind): readonly string[] {
  const names = JSON.stringify(en.mails[kind]).matchAll(/\{(\w+)\}/g);
  return [...names].map(([, name = ""]) => name).filter((name) => name !== "service");
}

async function send(kind: MailKind, locale: Locale, attack: string, to = READER): Promise<void> {
  const { mails } = relay.services.background.mail.stores;
  const now = relay.clock.now();
  const values = Object.fromEntries(placeholdersOf(kind).map((name) => [name, attack]));
  const content = { kind, to, locale, values, link: "https://relay.example.net/?token=A" };
  const until = new Date(now.getTime() + 3_600_000);
  await mails.insert("attacked", [mails.rowOf("attacked", content, { now, until })]);
  const at = now.toISOString();
  const mark = { kind: "mail", id: "attacked", at, platformId: "", profileId: "" } as const;
  await relay.services.background.mail.wakes.add(mark, now);
  await runWalks(relay.services, "send-mails");
}

const HEADERS = [
  "from",
  "to",
  "subject",
  "message-id",
  "references",
  "auto-submitted",
  "x-auto-response-suppress",
  "date",
  "mime-version",
  "content-type",
];
/** Of mails that a reader can end. */
const OPTIONAL = ["list-unsubscribe", "list-unsubscribe-post"];

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };

/** Returns what a reader sees of a page. */
const textOf = (page: string): string =>
  page
    .replace(/^.*<body[^>]*>/s, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(?:#(\d+)|(\w+));/g, (entity, code: string | undefined, name: string) =>
      code === undefined ? (ENTITIES[name] ?? entity) : String.fromCodePoint(Number(code)),
    );

/** Returns as much as a list of mails shows. */
const beginningOf = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 60);

test.each(pairsOf(KINDS, LOCALES))(
  "a mail of the kind %s in %s has its own headers alone",
  async (kind, locale) => {
    for (const attack of ATTACKS) {
      server.taken.length = 0;
      server.recipients.length = 0;
      await send(kind, locale, attack);
      expect(server.recipients).toEqual([READER]);
      expect(server.taken).toHaveLength(1);
      const { headerLines, subject = "", html } = await simpleParser(server.taken[0] ?? "");
      const names = headerLines.map(({ key }) => key).filter((name) => !OPTIONAL.includes(name));
      expect(names.toSorted()).toEqual(HEADERS.toSorted());
      // oxlint-disable-next-line no-control-regex -- that is what must not be there
      expect(subject).not.toMatch(/[\u0000-\u001f\u007f\u0085\u2028\u2029]/);
      expect(html).not.toMatch(/<script|<b |onclick="x"/);
    }
  },
);

describe.each(KINDS)("a mail of the kind %s", (kind) => {
  test.each(LOCALES)(
    "a mail in %s begins in HTML as in plain text, and not with its subject, which lists show beside it",
    async (locale) => {
      await send(kind, locale, "Example");
      const { subject = "", text = "", html } = await simpleParser(server.taken[0] ?? "");
      const [first = ""] = text.split("\n\n");
      const begin = beginningOf(first);
      // The server keeps the dots that lines begin with doubled.
      const [shown = ""] = textOf((html || "").replaceAll("..", ".")).split("\u034f");
      const seen = beginningOf(shown).replace("…", "");
      expect(seen.length).toBeGreaterThan(40);
      expect(begin.slice(0, seen.length)).toBe(seen);
      expect(begin).not.toBe(beginningOf(subject));
      expect(begin).toMatch(/^\p{L}|^"|^«|^„|^“/u);
    },
  );
});

test("mails of one kind to one reader belong to no conversation, and ask for no automatic answer", async () => {
  await send("verify", "en", "");
  await send("verify", "en", "");
  const [one, two] = await Promise.all(server.taken.map((mail) => simpleParser(mail)));
  expect(one?.subject).toBe(two?.subject);
  const ids = [one, two].flatMap((mail) => [mail?.messageId, mail?.references]);
  for (const id of ids) expect(id).toMatch(/^<[\w-]+(?:\.[\w-]+)*@example\.net>$/);
  expect(new Set(ids).size).toBe(4);
  expect(one?.headers.get("auto-submitted")).toBe("auto-generated");
  // Non-delivery reports are not among what is suppressed: they show bounces to operators.
  expect(one?.headers.get("x-auto-response-suppress")).toBe("DR, RN, NRN, OOF, AutoReply");
});

test.each([
  ...BREAKS.slice(0, 6).map((end) => `a${end}Bcc: victim@example.com${end}@example.com`),
  "reader@example.com, victim@example.com",
  "reader@example.com>\r\nRCPT TO:<victim@example.com",
  "Ann <victim@example.com>",
  "victim@example.com;reader@example.com",
])("a row with the address %j reaches nobody else", async (to) => {
  await send("reset", "en", "", to);
  expect(server.recipients).not.toContain("victim@example.com");
  for (const mail of server.taken) {
    const { headerLines } = await simpleParser(mail);
    expect(headerLines.map(({ key }) => key).toSorted()).toEqual(HEADERS.toSorted());
  }
});

test.each([
  "a@example.com\r\nBcc: victim@example.com",
  "a\n@example.com",
  "a@example.com,victim@example.com",
  "a@example.com victim@example.com",
  "Ann <a@example.com>",
  '"a\r\nBcc: victim@example.com"@example.com',
  "a@[127.0.0.1]",
  "a@example.com\0",
  "a@example.com\u2028",
  `${"a".repeat(250)}@example.com`,
])("nobody signs up with the address %j", async (email) => {
  const body = { email, password: PASSWORD, platformName: "Example" };
  const { status } = await relay.call("POST", "/v1/auth/signup", { body });
  await relay.drain();
  const to = server.recipients.at(0);
  // What is trimmed is an address like any other.
  if (status === 201) expect(to).toBe("a@example.com");
  else expect([status, to]).toEqual([400, undefined]);
});
