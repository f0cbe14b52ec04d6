import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import { ApiRefusal, createApiClient } from "./api-client.ts";
import type { ApiClient } from "./api-client.ts";
import { localFolder } from "./local-folder.ts";
import { isAnswered, portOf } from "./ports.ts";
import { bad, good, soft, strong } from "./terminal-style.ts";
import { isSignedBy } from "./webhook-signature.ts";

/** The product's bodies have at most 64 KiB. */
const BODY_BYTES_MAX = 256 * 1024;
const TYPE_WIDTH = 23;
const NETWORK_WIDTH = 9;

const Demo = z.object({ baseUrl: z.string(), apiKey: z.string() });
const Endpoint = z.object({ id: z.string(), secret: z.string() });
type Endpoint = z.output<typeof Endpoint>;

const Event = z.object({
  id: z.string(),
  type: z.string(),
  data: z.object({
    post: z.object({ id: z.string(), status: z.string() }).optional(),
    leg: z
      .object({
        platform: z.string(),
        url: z.string().nullable(),
        error: z
          .object({ code: z.string(), message: z.string(), remediation: z.string() })
          .nullable(),
      })
      .optional(),
    connection: z.object({ platform: z.string(), status: z.string() }).optional(),
    balance: z.object({ available: z.number() }).optional(),
  }),
});

/** Returns what an event is about, in a few words. */
function subjectOf({ post, leg, connection, balance }: z.output<typeof Event>["data"]): string {
  if (leg !== undefined) {
    const { platform, url, error } = leg;
    const why = error === null ? "" : `${error.code}: ${error.message} ${error.remediation}`;
    return `${platform.padEnd(NETWORK_WIDTH)}  ${url ?? why}`;
  }
  if (post !== undefined) return `${post.id}  ${post.status}`;
  if (connection !== undefined) return `${connection.platform}  ${connection.status}`;
  return balance === undefined ? "" : `${balance.available} tokens available`;
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Prints a delivery in one line, and with VERBOSE its whole body. */
function show(body: string, isRepeat: boolean): void {
  const { type, data } = Event.parse(JSON.parse(body));
  const time = new Date().toLocaleTimeString("en-GB");
  const notes = isRepeat ? soft("  repeated") : "";
  console.log(
    `${soft(time)}  ${strong(type.padEnd(TYPE_WIDTH))} ${good("verified")}  ${subjectOf(data)}${notes}`,
  );
  if ((process.env["VERBOSE"] ?? "") !== "")
    console.log(soft(JSON.stringify(JSON.parse(body), null, 2)));
}

/** Returns what answers deliveries: 204 to those that carry a valid signature, which it prints, and 400 to all others. */
function receiver(secretOf: Promise<string>): RequestListener {
  const seen = new Set<string>();
  const handle: (...of: Parameters<RequestListener>) => Promise<void> = async (
    request,
    response,
  ) => {
    const body = await readBody(request);
    const secret = await secretOf;
    const header = request.headers["x-social-restapi-signature"];
    if (body === undefined || typeof header !== "string" || !isSignedBy(secret, header, body)) {
      console.log(bad(`A ${request.method} without a valid signature: refused.`));
      response.writeHead(400).end();
      return;
    }
    const id = String(request.headers["webhook-id"]);
    show(body, seen.has(id));
    seen.add(id);
    response.writeHead(204).end();
  };
  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(bad(String(error)));
      response.destroy();
    });
  };
}

function readJson<Read>(file: string, schema: z.ZodType<Read>): Read | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
}

/** Returns the endpoint of the last run, now at this address, or a new one where there is none. */
async function openEndpoint(
  api: ApiClient,
  token: string,
  { url, file }: { readonly url: string; readonly file: string },
): Promise<Endpoint & { readonly isNew: boolean }> {
  const saved = readJson(file, Endpoint);
  if (saved !== undefined && (await isReactivated(api, token, { id: saved.id, url })))
    return { ...saved, isNew: false };
  const body = { url, description: "npm run listen" };
  const made = Endpoint.parse(await api.call("POST", "v1/webhooks", { token, body }));
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  return { ...made, isNew: true };
}

async function isReactivated(
  api: ApiClient,
  token: string,
  { id, url }: { readonly id: string; readonly url: string },
): Promise<boolean> {
  try {
    await api.call("PATCH", `v1/webhooks/${id}`, { token, body: { url, status: "active" } });
    return true;
  } catch (error) {
    // The data that it belonged to is gone, or somebody deleted it.
    if (error instanceof ApiRefusal && error.status === 404) return false;
    throw error;
  }
}

async function refuseTakenPort(port: number): Promise<void> {
  if (!(await isAnswered("127.0.0.1", port))) return;
  const free = port + 100 <= 65_535 ? port + 100 : port - 100;
  throw new Error(
    `Port ${port} is in use. Set LISTEN_PORT to another one: LISTEN_PORT=${free} npm run listen`,
  );
}

async function main(): Promise<void> {
  const folder = localFolder();
  const demo = readJson(join(folder, "demo.json"), Demo);
  if (demo === undefined) throw new Error("There is no relay here yet. Start it first: npm start");
  const port = portOf("LISTEN_PORT");
  await refuseTakenPort(port);
  const url = `http://localhost:${port}/`;
  const api = createApiClient(demo.baseUrl);
  // It listens before it says that it is there, because what waits is sent immediately.
  const opened = Promise.withResolvers<string>();
  const server = createServer(receiver(opened.promise)).listen(port, "127.0.0.1");
  await once(server, "listening");
  const { id, secret, isNew } = await openEndpoint(api, demo.apiKey, {
    url,
    file: join(folder, "listen.json"),
  });
  console.log(
    `Listening at ${strong(url)} as ${id}, for every event. ${soft("VERBOSE=1 prints whole bodies. Ctrl-C stops.")}`,
  );
  console.log(
    soft(
      isNew
        ? "Waiting for the first event."
        : "Events that waited while nothing listened are sent now, the oldest first. Then it waits for new ones.",
    ),
  );
  opened.resolve(secret);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.exit(0));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(bad(cause instanceof Error ? `${message}: ${cause.message}` : message));
    process.exit(1);
  }
}
