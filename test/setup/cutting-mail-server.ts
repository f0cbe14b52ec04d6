import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";

/**
 * Where a connection is cut: before the greeting, in the middle of it, at a command, in the middle of the mail, or after
 * the mail was taken and before it is said so.
 */
export const CUTS = [
  "connect",
  "greeting",
  "EHLO",
  "STARTTLS",
  "AUTH",
  "MAIL",
  "RCPT",
  "DATA",
  "body",
  "taken",
] as const;
type Cut = (typeof CUTS)[number] | "QUIT";

/** What is said without end: one line, lines of one answer, whole answers, or a character now and then. */
export type Endless = "line" | "lines" | "answers" | "drops";

const SAID: Readonly<Record<Endless, string>> = {
  line: "2".repeat(64 * 1024),
  lines: `250-${"x".repeat(1_000)}\r\n`.repeat(64),
  answers: "250 ok\r\n".repeat(8 * 1024),
  drops: "2",
};
const DROP_MS = 5;

/** A mail server of a few lines that ends a connection where it is told to, or says something else there. */
export interface CuttingMailServer {
  readonly port: number;
  /** The cut of the next connections; undefined takes every mail. */
  cut: Cut | undefined;
  /** What is answered at the cut instead of ending the connection; "" for nothing at all. */
  answer: string | undefined;
  /** What is said at the cut until the other side goes away. */
  endless: Endless | undefined;
  /** How long the answer at the cut takes; undefined for none that comes at once. */
  delayMs: number | undefined;
  /** Answers a mail of the next connections by its recipient and content; undefined takes it. */
  judge: ((step: "RCPT" | "taken", text: string) => string | undefined) | undefined;
  /** Which names in EHLO and HELO it hangs up on. */
  refusesName: ((name: string) => boolean) | undefined;
  /** Whom the next connections' mails are for that are answered with `answer` at RCPT; absent: all. */
  readonly refused: Set<string>;
  /** The mails that were taken, with the answer lost or not. */
  readonly taken: string[];
  /** The commands that came. */
  readonly said: string[];
  /** The addresses of the envelopes. */
  readonly recipients: string[];
  /** How many answers were late. */
  late: number;
  /** How many connections are open. */
  readonly connections: number;
  /** What the last connection was sent, in bytes. */
  bytesSaid: number;
  /** Ends all connections, as they end with the process on the other side. */
  hangUp(): void;
  stop(): Promise<void>;
}

export async function startCuttingMailServer(): Promise<CuttingMailServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      state.bytesSaid = socket.bytesWritten;
    });
    serve(socket, state);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const state: CuttingMailServer = {
    port: (server.address() as AddressInfo).port,
    cut: undefined,
    answer: undefined,
    endless: undefined,
    delayMs: undefined,
    judge: undefined,
    refusesName: undefined,
    refused: new Set(),
    taken: [],
    said: [],
    recipients: [],
    late: 0,
    get connections() {
      return sockets.size;
    },
    bytesSaid: 0,
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return state;
}

function goOn(socket: Socket, endless: Endless): void {
  if (endless === "drops") {
    const timer = setInterval(() => socket.write(SAID.drops), DROP_MS);
    socket.on("close", () => clearInterval(timer));
    return;
  }
  const fill = () => {
    while (!socket.destroyed && socket.write(SAID[endless]));
    socket.once("drain", fill);
  };
  fill();
}

const ANSWERS: Readonly<Record<string, string>> = {
  DATA: "354 go on",
  QUIT: "221 bye",
  AUTH: "235 come in",
};

function serve(socket: Socket, state: CuttingMailServer): void {
  let text = "";
  let isData = false;
  const say = (line: string, step?: Cut) => {
    const answer = () => void socket.write(`${line}\r\n`);
    const isLate = state.delayMs !== undefined && step !== undefined && state.cut === step;
    if (!isLate) return answer();
    state.late += 1;
    setTimeout(answer, state.delayMs);
  };
  const isOver = (step: Cut): boolean => {
    if (state.cut !== step || state.delayMs !== undefined) return false;
    if (state.endless !== undefined) goOn(socket, state.endless);
    else if (state.answer === undefined) socket.destroy();
    else if (state.answer !== "") say(state.answer);
    return true;
  };
  const take = (mail: string) => {
    isData = false;
    if (state.cut === "taken" && state.answer !== undefined) return isOver("taken");
    const refusal = state.judge?.("taken", mail);
    if (refusal !== undefined) return say(refusal);
    state.taken.push(mail);
    if (!isOver("taken")) say("250 taken", "taken");
  };
  const isRefused = (line: string) => {
    const [, to = ""] = /^RCPT TO:<(.*)>/i.exec(line) ?? [];
    if (to === "") return false;
    state.recipients.push(to);
    return state.refused.has(to);
  };
  const command = (line: string) => {
    state.said.push(line);
    const name = (line.split(/[ :]/, 1)[0] ?? "").toUpperCase();
    if (state.cut === name && isOver(state.cut)) return;
    const [, greeted] = /^(?:EHLO|HELO) (.*)/i.exec(line) ?? [];
    if (greeted !== undefined && state.refusesName?.(greeted) === true) {
      say("421-4.7.0 Try again later, closing connection. (EHLO)\r\n421 4.7.0 bye");
      return void socket.end();
    }
    if (isRefused(line)) return say("450 try again later");
    const refusal = name === "RCPT" ? state.judge?.("RCPT", line) : undefined;
    if (refusal !== undefined) return say(refusal);
    if (name === "DATA") isData = true;
    const offer = state.cut === "STARTTLS" ? "STARTTLS" : "SIZE";
    say(
      name === "EHLO" ? `250-here\r\n250-AUTH PLAIN\r\n250 ${offer}` : (ANSWERS[name] ?? "250 ok"),
      CUTS.find((cut) => cut === name),
    );
  };
  socket.on("data", (chunk) => {
    if (isData && isOver("body")) return;
    text += chunk.toString("utf8");
    for (;;) {
      const end = text.indexOf(isData ? "\r\n.\r\n" : "\r\n");
      if (end === -1) return;
      const part = text.slice(0, end);
      text = text.slice(end + (isData ? 5 : 2));
      if (isData) take(part);
      else command(part);
    }
  });
  if (state.cut === "connect") return void socket.resetAndDestroy();
  const isCutInGreeting =
    state.cut === "greeting" && state.answer === undefined && state.delayMs === undefined;
  if (isCutInGreeting && state.endless === undefined) socket.write("22");
  if (!isOver("greeting")) say("220 here", "greeting");
}
