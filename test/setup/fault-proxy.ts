import { randomUUID } from "node:crypto";
import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What becomes of one call. `lose_request`: it never arrives. `lose_answer`: it has its effect, the caller hears
 * nothing. `late`: the caller hears nothing and the effect comes afterwards. `false_412`: it has its effect and is
 * answered as if it had lost a race, which is what a retry inside a client library makes of a lost answer.
 */
export type Fault = "pass" | "lose_request" | "lose_answer" | "late" | "false_412" | "unavailable";

/** What becomes of a queue message beside that. `twice`: it is sent two times. `swallow`: it is not, and seems to be. */
export type MessageFault = "twice" | "swallow";

export interface ProxiedCall {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface FaultProxy {
  readonly port: number;
  stop(): Promise<void>;
}

const LATE_MS = 150;
const PRECONDITION_FAILED = JSON.stringify({
  "odata.error": { code: "UpdateConditionNotSatisfied", message: { lang: "en-US", value: "412" } },
});

/** What the queue service answers to a message that it took, as far as its client looks at it. */
function takenMessage(): string {
  const now = new Date().toUTCString();
  const id = randomUUID();
  return `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>${id}</MessageId><InsertionTime>${now}</InsertionTime><ExpirationTime>${now}</ExpirationTime><PopReceipt>${id}</PopReceipt><TimeNextVisible>${now}</TimeNextVisible></QueueMessage></QueueMessagesList>`;
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

function forward(target: number, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        host: "127.0.0.1",
        port: target,
        method: incoming.method,
        path: incoming.url,
        headers: incoming.headers,
      },
      (answer) => {
        bodyOf(answer).then(
          (received) =>
            resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: received }),
          reject,
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function reply(outgoing: ServerResponse, answer: Answer): void {
  outgoing.writeHead(answer.status, answer.headers);
  outgoing.end(answer.body);
}

/** A proxy on loopback in front of `target` that plays the fault which `choose` names for each call. */
export async function startFaultProxy(
  target: number,
  choose: (call: ProxiedCall) => Fault | MessageFault,
): Promise<FaultProxy> {
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const fault = choose({
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      body: body.toString("latin1"),
    });
    const lose = () => incoming.socket.destroy();
    switch (fault) {
      case "pass":
        return reply(outgoing, await forward(target, incoming, body));
      case "lose_request":
        return void lose();
      case "lose_answer":
        await forward(target, incoming, body);
        return void lose();
      case "late":
        lose();
        await new Promise((resolve) => setTimeout(resolve, LATE_MS));
        await forward(target, incoming, body);
        return;
      case "false_412":
        await forward(target, incoming, body);
        outgoing.writeHead(412, { "content-type": "application/json" });
        return void outgoing.end(PRECONDITION_FAILED);
      case "unavailable":
        outgoing.writeHead(503, { "content-type": "application/json" });
        return void outgoing.end(JSON.stringify({ "odata.error": { code: "ServerBusy" } }));
      case "twice":
        await forward(target, incoming, body);
        return reply(outgoing, await forward(target, incoming, body));
      case "swallow":
        outgoing.writeHead(201, { "content-type": "application/xml" });
        return void outgoing.end(takenMessage());
    }
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
