import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { Config } from "../config/config.ts";

/** Time limits for the mail server, in milliseconds. */
export interface MailLimits {
  /** For the connection. */
  readonly connect: number;
  /** For each answer up to that to `DATA` (RFC 5321, 4.5.3.2.1 to 4.5.3.2.4). */
  readonly step: number;
  /** For the mail and the answer to its final dot, ten minutes of which are the answer: ending it earlier makes copies (RFC 5321, 4.5.3.2.6). */
  readonly acceptance: number;
}
export const MAIL_LIMITS: MailLimits = {
  connect: 30_000,
  step: 5 * 60_000,
  acceptance: 10.5 * 60_000,
};

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
}

/** The steps of handing over a mail, in their order. The last one is the mail, its final dot and the answer to it. */
export const STEPS = [
  "connect",
  "greeting",
  "EHLO",
  "STARTTLS",
  "AUTH",
  "MAIL",
  "RCPT",
  "DATA",
  "mail",
] as const;
export type SmtpStep = (typeof STEPS)[number];

/** Why a mail was not accepted, and where. */
export interface MailFailure {
  readonly step: SmtpStep;
  /** The server's answer, or what happened instead. */
  readonly answer: string;
  /** The answer's code, such as 550. Undefined when the connection ended without an answer. */
  readonly status?: number;
  /** The answer's enhanced code (RFC 3463), such as 5.1.1. */
  readonly enhanced?: string;
  /** Whether the library refused the mail itself, so that no server will ever get it. */
  readonly isUnsendable?: boolean;
}

/** `unknown`: the connection ended after the mail was sent and before it was answered. The server may have it. */
export type SendOutcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "failed" | "unknown"; readonly failure: MailFailure };

export interface Transport {
  /** Sends a mail to the server. The signal ends what was begun, unless the mail itself is under way. Never throws. */
  send(message: Message, signal?: AbortSignal): Promise<SendOutcome>;
}

type MailConfig = NonNullable<Config["mail"]>;

/** Loads the library when the first mail is sent. */
async function loadNodemailer() {
  const [{ default: MailComposer }, { default: SmtpConnection }] = await Promise.all([
    import("nodemailer/lib/mail-composer"),
    import("nodemailer/lib/smtp-connection"),
  ]);
  return { MailComposer, SmtpConnection };
}
type MailLibrary = Awaited<ReturnType<typeof loadNodemailer>>;

/**
 * Returns the name that the relay greets mail servers with (RFC 5321, 4.1.4): the host of its address. Servers hang up on
 * names without a dot and on the address of the loopback interface, so the domain of the sender replaces these.
 */
export function greetingName(publicBaseUrl: string, from: string): string {
  const host = new URL(publicBaseUrl).hostname.replace(/^\[|\]$/g, "");
  const version = isIP(host);
  const isLoopback =
    version === 0 ? !host.includes(".") : host === "::1" || host.startsWith("127.");
  if (isLoopback) return from.slice(from.indexOf("@") + 1);
  if (version === 0) return host;
  return version === 4 ? `[${host}]` : `[IPv6:${host}]`;
}

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

/** Line breaks of all kinds and other control characters. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Commands by which the library's log shows which step it takes. */
const STEP_OF_COMMAND: Readonly<Record<string, SmtpStep>> = {
  EHLO: "EHLO",
  HELO: "EHLO",
  STARTTLS: "STARTTLS",
  AUTH: "AUTH",
  MAIL: "MAIL",
  RCPT: "RCPT",
  DATA: "DATA",
};

/** Makes a logger for the library that reports commands and answers, and writes nothing. */
function commandLog(onCommand: (command: string) => void, onAnswer: (answer: string) => void) {
  const debug = (entry: { readonly tnx?: unknown }, text: unknown) => {
    if (entry.tnx === "client") onCommand(String(text).split(/[ :]/, 1)[0] ?? "");
    if (entry.tnx === "server") onAnswer(String(text));
  };
  const ignore = () => undefined;
  const level = () => undefined;
  return { level, trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore };
}

/** A connection to the mail server, and where on it a step is reported. */
interface Line {
  readonly library: MailLibrary;
  readonly socket: Socket;
  readonly name: string;
  readonly silenceMs: number;
  /** How to log in. Undefined: by what the server offers, PLAIN first. */
  readonly method: "LOGIN" | undefined;
  readonly enter: (step: SmtpStep) => void;
  readonly onAnswer: (answer: string) => void;
}

function compose({ from, name }: MailConfig, message: Message, { MailComposer }: MailLibrary) {
  return new MailComposer({
    ...message,
    subject: message.subject.replaceAll(BREAKS, " "),
    from: { name, address: from },
    // As an object, so that nothing in an address is taken for a second address.
    to: { name: "", address: message.to },
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
}

/** Hands a mail to the server, and sends `QUIT` (RFC 5321, 4.1.1.10) without waiting for its answer. */
async function handOverMail(mail: MailConfig, message: Message, line: Line): Promise<void> {
  const { host, port, isSecure, needsTls, user, password } = mail;
  const { library, socket, silenceMs, method, enter, onAnswer } = line;
  const composed = compose(mail, message, library);
  async function* read() {
    // The library reads the mail once the server has asked for it.
    enter("mail");
    yield* composed.createReadStream();
  }
  const connection = new library.SmtpConnection({
    host,
    port,
    name: line.name,
    secure: isSecure,
    requireTLS: needsTls,
    tls: { servername: host },
    connection: socket,
    // The time limits are ours: an answer that comes drop by drop is no silence.
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    transactionLog: true,
    logger: commandLog((command) => {
      const step = STEP_OF_COMMAND[command];
      if (step !== undefined) enter(step);
    }, onAnswer),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const unlessFailed = (next: () => void) => (error?: Error | null) =>
        error ? reject(error) : next();
      // It stays, because an error that nobody listens for would end the process.
      connection.on("error", reject);
      const send = () =>
        connection.send(composed.getEnvelope(), Readable.from(read()), unlessFailed(resolve));
      const logIn = () => {
        if (user === undefined || !connection.allowsAuth) return send();
        const credentials = { user, pass: password ?? "" };
        connection.login({ credentials, method: method ?? false }, unlessFailed(send));
      };
      connection.connect(unlessFailed(logIn));
    });
  } finally {
    connection.quit();
  }
}

/** What the library throws. */
interface LibraryError {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
  readonly message?: unknown;
}

/** Maximum length of a server's answer in the log. */
const ANSWER_MAX = 500;
/** The answers to `MAIL` and `RCPT` may come after the next command was sent, so the library says which one it is. */
const STEP_OF_ANSWER: Readonly<Record<string, SmtpStep>> = {
  "MAIL FROM": "MAIL",
  "RCPT TO": "RCPT",
};
/** An enhanced code directly behind the code of an answer. */
const ENHANCED = /^[245]\d\d[ -]([245]\.\d{1,3}\.\d{1,3})(?!\d)/;

function mailFailureOf(error: unknown, reached: SmtpStep): MailFailure {
  const { code, command, response, responseCode, message } = error as LibraryError;
  const answer = String(response ?? message).slice(0, ANSWER_MAX);
  if (typeof responseCode !== "number") {
    const isUnsendable = code === "EENVELOPE" || code === "EMESSAGE";
    return { step: reached, answer, ...(isUnsendable && { isUnsendable }) };
  }
  const step = STEP_OF_ANSWER[String(command)] ?? reached;
  const [, enhanced] = ENHANCED.exec(answer) ?? [];
  return { step, answer, status: responseCode, ...(enhanced !== undefined && { enhanced }) };
}

/** Maximum length of the part of an answer that is searched for what the server offers. */
const OFFER_MAX = 4_000;

/** Reports whether an answer to EHLO offers to log in by PLAIN and by LOGIN. */
function offersBoth(answer: string): boolean {
  const lines = answer.slice(0, OFFER_MAX).toUpperCase().split(/\r?\n/);
  const offered = lines.find((line) => /^250[ -]AUTH[ =]/.test(line))?.split(/[ =]/) ?? [];
  return ["PLAIN", "LOGIN"].every((method) => offered.includes(method));
}

/** Time limit for the answer to `QUIT`, and how many connections may wait for it. */
const GOODBYE_MS = 5_000;
const GOODBYES_MAX = 16;

export function createTransport(
  { mail, publicBaseUrl }: Pick<Config, "mail" | "publicBaseUrl">,
  limits: MailLimits = MAIL_LIMITS,
): Transport {
  /** What the server was last found to accept. */
  let known: Line["method"];
  /** The last connections that were ended with `QUIT`. */
  const leaving: Socket[] = [];

  /** Lets a connection wait for the server's goodbye. Its outcome is known, so nothing else waits for that. */
  function leave(socket: Socket): void {
    leaving.push(socket);
    if (leaving.length > GOODBYES_MAX) leaving.shift()?.destroy();
    setTimeout(() => socket.destroy(), GOODBYE_MS).unref();
  }

  async function attempt(
    message: Message,
    signal: AbortSignal | undefined,
    method: Line["method"],
  ): Promise<{ readonly outcome: SendOutcome; readonly hasBoth: boolean }> {
    let hasBoth = false;
    let reached: SmtpStep = "connect";
    if (mail === undefined) {
      const failure = { step: reached, answer: "MAIL_URL is not set" };
      return { outcome: { kind: "failed", failure }, hasBoth };
    }
    let socket: Socket | undefined;
    let timer: NodeJS.Timeout | undefined;
    let ended = "";
    const end = (why: string) => {
      ended = why;
      socket?.destroy();
    };
    const enter = (step: SmtpStep) => {
      // Only onwards: a server that never comes to an end has a limited number of answers to be late with.
      if (STEPS.indexOf(step) <= STEPS.indexOf(reached)) return;
      reached = step;
      clearTimeout(timer);
      const ms = step === "mail" ? limits.acceptance : limits.step;
      timer = setTimeout(() => end(`no answer within ${ms / 1_000} seconds`), ms);
    };
    const stop = () => {
      if (reached !== "mail") end("the process is about to end");
    };
    signal?.addEventListener("abort", stop);
    try {
      // Loaded before connecting, because the server could speak or disconnect while the library loads.
      const library = await loadNodemailer();
      socket = await dial(mail, limits.connect);
      if (signal?.aborted === true) stop();
      enter("greeting");
      const name = greetingName(publicBaseUrl, mail.from);
      const silenceMs = STEPS.length * limits.step + limits.acceptance;
      const onAnswer = (answer: string) => void (hasBoth ||= offersBoth(answer));
      await handOverMail(mail, message, {
        library,
        socket,
        name,
        silenceMs,
        method,
        enter,
        onAnswer,
      });
      return { outcome: { kind: "accepted" }, hasBoth };
    } catch (error) {
      const failure = mailFailureOf(error, reached);
      const { step, status, isUnsendable = false } = failure;
      const isUnknown = step === "mail" && status === undefined && !isUnsendable;
      const kind = isUnknown ? "unknown" : "failed";
      const found = ended === "" ? failure : { ...failure, answer: ended };
      return { outcome: { kind, failure: found }, hasBoth };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      if (socket !== undefined) leave(socket);
    }
  }

  return {
    async send(message, signal) {
      const method = known;
      const { outcome, hasBoth } = await attempt(message, signal, method);
      const isPlainRefused =
        outcome.kind === "failed" &&
        outcome.failure.step === "AUTH" &&
        (outcome.failure.status ?? 0) >= 500;
      if (!isPlainRefused || !hasBoth || method !== undefined) return outcome;
      // Some servers offer PLAIN and accept only LOGIN.
      const { outcome: second } = await attempt(message, signal, "LOGIN");
      const isRefused =
        second.kind === "failed" && STEPS.indexOf(second.failure.step) <= STEPS.indexOf("AUTH");
      if (isRefused) return outcome;
      known = "LOGIN";
      return second;
    },
  };
}
