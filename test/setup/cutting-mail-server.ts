import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";

/** Where a connection is cut: before the greeting, at a command, or after the mail was taken and before it is said so. */
export const CUTS = ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "taken"] as const;
type Cut = (typeof CUTS)[number];

/** A mail server of a few lines that ends a connection where it is told to, or gives another answer there. */
export interface CuttingMailServer {
  readonly port: number;
  /** The cut of the next connections; undefined takes every mail. */
  cut: Cut | undefined;
  /** What is answered at the cut instead of ending the connection. */
  answer: string | undefined;
  /** The mails that were taken, with the answer lost or not, and when. */
  readonly taken: string[];
  stop(): Promise<void>;
}

export async function startCuttingMailServer(): Promise<CuttingMailServer> {
  const taken: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket, state);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const state: CuttingMailServer = {
    port: (server.address() as AddressInfo).port,
    cut: undefined,
    answer: undefined,
    taken,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return state;
}

function serve(socket: Socket, state: CuttingMailServer): void {
  let text = "";
  let isData = false;
  const say = (line: string) => socket.write(`${line}\r\n`);
  const isOver = (step: Cut): boolean => {
    if (state.cut !== step) return false;
    if (state.answer === undefined) socket.destroy();
    else say(state.answer);
    return true;
  };
  const take = (mail: string) => {
    isData = false;
    if (state.cut === "taken" && state.answer !== undefined) return say(state.answer);
    state.taken.push(mail);
    if (!isOver("taken")) say("250 taken");
  };
  const command = (line: string) => {
    const name = line.slice(0, 4).toUpperCase();
    if (CUTS.some((cut) => cut === name) && isOver(name as Cut)) return;
    if (name === "DATA") isData = true;
    say(name === "DATA" ? "354 go on" : name === "QUIT" ? "221 bye" : "250 ok");
  };
  socket.on("data", (chunk) => {
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
  if (!isOver("greeting")) say("220 here");
}
