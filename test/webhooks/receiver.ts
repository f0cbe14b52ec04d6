import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const RECEIVER_HOST = "hooks.example.test";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** How a receiver answers; `nth` counts the calls of its path, from 1. */
export type Behavior = (
  outgoing: ServerResponse,
  received: Received,
  nth: number,
) => void | Promise<void>;

export const ok: Behavior = (outgoing) => void outgoing.end("ok");
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}, body = ""): Behavior =>
  (outgoing) =>
    void outgoing.writeHead(code, headers).end(body);
export const hangs: Behavior = () => undefined;
export const resets: Behavior = (outgoing) => void outgoing.socket?.resetAndDestroy();
export const speaksGarbage: Behavior = (outgoing) =>
  void outgoing.socket?.end("\u0000\u0001 this is no HTTP\r\n\r\n");
export const dripsForEver: Behavior = (outgoing) => {
  outgoing.writeHead(200);
  const timer = setInterval(() => outgoing.write("."), 20);
  outgoing.on("close", () => clearInterval(timer));
};

/** Receivers of customers, one for each path, all on one loopback server. */
export interface Receiver {
  readonly port: number;
  /** Settings that put the server in the place of `hooks.example.test`. */
  readonly settings: Readonly<Record<string, string>>;
  url(path: string): string;
  behave(path: string, behavior: Behavior): void;
  received(path: string): readonly Received[];
  stop(): Promise<void>;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export async function startReceiver(): Promise<Receiver> {
  const behaviors = new Map<string, Behavior>();
  const calls = new Map<string, Received[]>();
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = incoming.url ?? "";
    const received = { path, headers: incoming.headers, body: await bodyOf(incoming) };
    const earlier = calls.get(path) ?? [];
    calls.set(path, [...earlier, received]);
    await (behaviors.get(path) ?? ok)(outgoing, received, earlier.length + 1);
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    settings: {
      OUTBOUND_HOST_MAP: JSON.stringify({ [RECEIVER_HOST]: `http://127.0.0.1:${port}` }),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    },
    url: (path) => `https://${RECEIVER_HOST}${path}`,
    behave: (path, behavior) => void behaviors.set(path, behavior),
    received: (path) => calls.get(path) ?? [],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
