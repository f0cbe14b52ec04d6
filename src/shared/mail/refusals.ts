import type { MailFailure, SmtpStep } from "./transport.ts";

/**
 * What a failure is about. `mail`: this reader or this mail, for good. `later`: this reader or this mail, for now. `all`:
 * every mail would meet it. `unclear`: the answer may be about either.
 */
export type Meaning = "mail" | "later" | "all" | "unclear";

interface RefusalRule {
  readonly steps?: readonly SmtpStep[];
  /** The codes of the answer. */
  readonly status?: RegExp;
  /** The enhanced code without its class, such as `1.1` for 5.1.1. */
  readonly enhanced?: RegExp;
  /** Words of an answer, all of which it has. Each is a choice without a repeat, because a server writes the answer. */
  readonly words?: readonly RegExp[];
  /** What the answer means if it is for good, and if it is for now. */
  readonly means: Meaning;
  readonly meansForNow?: Meaning;
  readonly source: string;
}

/** The first rule that fits decides. */
export const RULES: readonly RefusalRule[] = [
  {
    steps: ["MAIL"],
    enhanced: /^3\.4$/,
    means: "unclear",
    source: "RFC 3463, 3.4: message too big for system; RFC 1870, 6.1: answer to SIZE",
  },
  {
    steps: ["connect", "greeting", "EHLO", "STARTTLS", "AUTH", "MAIL"],
    means: "all",
    source:
      "RFC 5321, 3.1 to 3.3: no reader is named before RCPT. Google 421-4.7.0 (EHLO), RFC 4954 535 5.7.8, SendGrid 451 Authentication failed: Maximum credits exceeded, Exchange 432 4.3.2 concurrent connections",
  },
  {
    status: /^(?:530|534|535|538|454)$/,
    means: "all",
    source:
      "RFC 4954, 4 and 6: login required or failed; Amazon SES: 454 Throttling failure: Daily message quota exceeded",
  },
  {
    enhanced: /^1\.(?:7|8|90)$/,
    means: "all",
    source:
      "RFC 3463, 3.2: X.1.7 and X.1.8 are the sender's address; Exchange 550 5.1.8 bad outbound sender, 550 5.1.90 daily limit for message recipients",
  },
  {
    enhanced: /^4\.5$/,
    means: "all",
    source:
      "RFC 3463, 3.5: X.4.5 is congestion; Google 550 5.4.5 Daily user sending limit exceeded",
  },
  {
    enhanced: /^7\.(?:[89]|1[0-4]|2[0-9]|57|60|64|[567]\d\d)$/,
    means: "all",
    source:
      "RFC 4954 X.7.8 to X.7.12 and RFC 5248 X.7.13, X.7.14: login and account; RFC 7372 X.7.20 to X.7.26: DKIM, SPF, reverse DNS; Exchange 5.7.57 not authenticated, 5.7.60 SendAsDenied, 5.7.64 relay, 5.7.5xx and 5.7.6xx banned sender, 5.7.7xx tenant's threshold",
  },
  {
    enhanced: /^2\.(?:121|122)$/,
    means: "later",
    source: "Exchange 5.2.121 and 5.2.122: the reader's mailbox gets too many mails within an hour",
  },
  {
    words: [/SendAsDenied|SubmissionQuotaExceeded|OutboundSpam/],
    means: "all",
    source: "Exchange 554 5.2.0 STOREDRV.Submission.Exception with the name of the exception",
  },
  {
    enhanced: /^2\.\d+$/,
    means: "mail",
    meansForNow: "later",
    source: "RFC 3463, 3.3: X.2.X is the reader's mailbox; Postfix 552 5.2.2 over quota",
  },
  {
    enhanced: /^1\.\d+$/,
    means: "mail",
    meansForNow: "later",
    source: "RFC 3463, 3.2: X.1.X is the reader's address; Postfix 550 5.1.1 User unknown",
  },
  {
    words: [/recipient|mailbox|user/i, /\bfull\b|over quota|thread limit|storage/i],
    means: "mail",
    meansForNow: "later",
    source:
      "Dovecot 552 Mailbox is full; Exchange 432 4.3.2 STOREDRV.Deliver; recipient thread limit exceeded",
  },
  {
    words: [/throttl|too many (?:log-?ins?|connections)/i],
    means: "all",
    source: "Amazon SES 454 Throttling failure; Google 454 4.7.0 Too many login attempts",
  },
  {
    words: [
      /daily|hourly|sending|outgoing|\brate\b|credits|per (?:day|hour|minute)/i,
      /limit|exceed|quota/i,
    ],
    means: "all",
    source:
      "Plesk 554 5.7.0 The limit on the number of allowed outgoing messages was exceeded; SendGrid 451 Maximum credits exceeded; Exim 451 ratelimit: no code stands for it",
  },
  {
    steps: ["DATA", "mail"],
    words: [/account|domain/i, /disabled|suspended|blocked|not allowed/i],
    means: "all",
    source: "Mailgun 550 Domain is disabled, SMTP2GO 550 account suspended",
  },
  {
    words: [
      /not authori[sz]ed to send|not allowed to send|address is not verified|unauthenticated/i,
    ],
    means: "all",
    source:
      "SendGrid 403 You are not authorized to send from that email address; Amazon SES 554 Message rejected: Email address is not verified",
  },
  {
    words: [
      /sender|from address/i,
      /not match|verif|not allowed|denied|not authori[sz]ed|not owned|rejected/i,
    ],
    means: "all",
    source:
      "SendGrid 550 The from address does not match a verified Sender Identity; Postfix 553 5.7.1 Sender address rejected: not owned by user",
  },
  {
    words: [/relay/i, /not permitted|denied|prohibited/i],
    means: "unclear",
    source:
      "Exim 550 relay not permitted, Sendmail 550 Relaying denied: a login that has no effect, or a reader whom the server doesn't serve",
  },
  {
    enhanced: /^4\.\d+$/,
    means: "mail",
    meansForNow: "later",
    source:
      "RFC 3463, 3.5: X.4.X is the way to the reader's host; Exchange 550 5.4.1 Recipient address rejected: Access denied",
  },
  {
    enhanced: /^6\.\d+$/,
    means: "mail",
    meansForNow: "later",
    source: "RFC 3463, 3.7: X.6.X is the mail's content",
  },
  {
    enhanced: /^7\.1$/,
    status: /^4/,
    means: "later",
    source: "Postfix 450 4.7.1 of greylisting, which is about one reader and one sender",
  },
  {
    enhanced: /^5\.(?:0|3)$/,
    steps: ["RCPT"],
    means: "mail",
    meansForNow: "later",
    source:
      "outlook.com 550 5.5.0 mailbox unavailable; RFC 3463, 3.6: X.5.3 is too many recipients",
  },
  {
    enhanced: /./,
    means: "unclear",
    source:
      "RFC 3463, 3.4, 3.6 and 3.8: X.3.X is the mail system, X.5.X the protocol, X.7.X a policy of either side; Postfix 554 5.7.1 Relay access denied, Spamhaus 550 5.7.1 Client host blocked",
  },
  {
    status: /^421$/,
    means: "unclear",
    source: "RFC 5321, 3.8: 421 may be the answer to any command",
  },
  {
    steps: ["RCPT"],
    status: /^(?:4\d\d|501|55[0-3])$/,
    means: "mail",
    meansForNow: "later",
    source: "RFC 5321, 4.2.2 and 4.2.3: codes about a mailbox",
  },
  {
    steps: ["mail"],
    status: /^55[0-3]$/,
    means: "mail",
    source: "RFC 5321, 4.2.3: codes about a mailbox or its storage",
  },
];

/** Returns what a failure is about, by its step, its codes, and for a few providers its words. */
export function meaningOf({ step, answer, status, enhanced, isUnsendable }: MailFailure): Meaning {
  if (isUnsendable === true) return "mail";
  const isForNow = status === undefined || status < 500;
  const detail = enhanced?.slice(enhanced.indexOf(".") + 1);
  const rule = RULES.find(
    (one) =>
      (one.steps?.includes(step) ?? true) &&
      (one.status?.test(String(status ?? "")) ?? true) &&
      (one.enhanced?.test(detail ?? "") ?? true) &&
      (one.words === undefined ||
        (status !== undefined && one.words.every((word) => word.test(answer)))),
  );
  // The rules without a status are about an answer, unless they are about a step before any reader was named.
  if (rule === undefined) return "unclear";
  return isForNow ? (rule.meansForNow ?? rule.means) : rule.means;
}
