import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Config } from "../config/config.ts";

/** Time limits for the mail server, in milliseconds. */
const LIMITS = {
  /** To accept the connection, and again to send its greeting. */
  connect: 10_000,
  silence: 20_000,
  /** For everything after connecting. */
  talk: 35_000,
};
/** Maximum duration of sending one mail. */
export const SEND_MS_MAX = LIMITS.connect + LIMITS.talk;
/** How long a server that could not be reached is left alone. */
const DOWN_MS = 5_000;

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The outcome of sending. `refused`: the server will never accept the mail. `not_sent`: it certainly has not accepted
 * it. `unknown`: the connection ended before the answer.
 */
type SendOutcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused" | "not_sent" | "unknown"; readonly answer: string };

export interface Transport {
  /** Reports whether the server could not be reached a moment ago. */
  isDown(): boolean;
  /** Sends a mail to the server. Never throws. */
  send(message: Message): Promise<SendOutcome>;
}

type MailConfig = NonNullable<Config["mail"]>;

/** Loads the library when the first mail is sent. */
const loadLibrary = async () => (await import("nodemailer")).default;
type Library = Awaited<ReturnType<typeof loadLibrary>>;

async function dial({ host, port }: MailConfig, ms: number): Promise<Socket> {
  const socket = connect({ host, port });
  // Without a listener, an error of the connection would end the process.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(ms) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A connection to the mail server, the sender's name, and the server's time limit. */
interface Line {
  readonly library: Library;
  readonly socket: Socket;
  readonly limits: typeof LIMITS;
}

/** Line breaks of all kinds and other control characters. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

async function handOver(
  mail: MailConfig,
  message: Message,
  { library, socket, limits }: Line,
): Promise<void> {
  const { host, port, isSecure, needsTls, user, password, from, name } = mail;
  const options = {
    host,
    port,
    secure: isSecure,
    requireTLS: needsTls,
    ...(user === undefined ? {} : { auth: { user, pass: password ?? "" } }),
    tls: { servername: host },
    greetingTimeout: limits.connect,
    socketTimeout: limits.silence,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (
      _options: unknown,
      callback: (error: null, options: { connection: Socket }) => void,
    ) => callback(null, { connection: socket }),
  };
  await library.createTransport(options).sendMail({
    ...message,
    subject: message.subject.replaceAll(BREAKS, " "),
    from: { name, address: from },
    // As an object, so that nothing in an address is taken for a second address.
    to: { name: "", address: message.to },
  });
}

interface Failure {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly message?: unknown;
}

/** Failures after which the server certainly has no mail, with or without an answer. */
const BEFORE_THE_MAIL = new Set(["EAUTH", "EENVELOPE", "ETLS", "EDNS"]);
/** Maximum length of a server's answer in the log. */
const ANSWER_MAX = 500;
/** Steps at which a permanent refusal is about this mail. Before them, it is about the settings. */
const OF_THE_MAIL = new Set(["RCPT TO", "DATA"]);

/** Translates a failure of the library. */
function outcomeOf(error: unknown): SendOutcome {
  const { code, command, responseCode, message } = error as Failure;
  const answer = String(message).slice(0, ANSWER_MAX);
  const isAnswered = typeof responseCode === "number";
  if (isAnswered && responseCode >= 500 && OF_THE_MAIL.has(String(command)))
    return { kind: "refused", answer };
  const isEarly = isAnswered || BEFORE_THE_MAIL.has(String(code));
  return { kind: isEarly ? "not_sent" : "unknown", answer };
}

export function createTransport(
  { mail }: Pick<Config, "mail">,
  now: () => number,
  limits = LIMITS,
): Transport {
  let downUntil = 0;
  return {
    isDown: () => now() < downUntil,
    async send(message) {
      if (mail === undefined) return { kind: "not_sent", answer: "MAIL_URL is not set" };
      let library: Library;
      let socket: Socket;
      try {
        // Loaded before connecting, because the server could speak or disconnect while the library loads.
        library = await loadLibrary();
        socket = await dial(mail, limits.connect);
      } catch (error) {
        downUntil = now() + DOWN_MS;
        return { kind: "not_sent", answer: String(error) };
      }
      const timer = setTimeout(() => socket.destroy(), limits.talk);
      try {
        await handOver(mail, message, { library, socket, limits });
        return { kind: "accepted" };
      } catch (error) {
        return outcomeOf(error);
      } finally {
        clearTimeout(timer);
        socket.destroy();
      }
    },
  };
}
