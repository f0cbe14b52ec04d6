import { once } from "node:events";
import { connect, createServer } from "node:net";

const PORTS = {
  PORT: { fallback: 7071, what: "the API" },
  SANDBOX_PORT: { fallback: 7072, what: "the sandbox networks" },
  SMTP_PORT: { fallback: 7074, what: "the mailbox" },
  ISSUER_PORT: { fallback: 7073, what: "the sandbox issuer" },
  AZURITE_BLOB_PORT: { fallback: 10_000, what: "Azurite's blobs" },
  AZURITE_QUEUE_PORT: { fallback: 10_001, what: "Azurite's queues" },
  AZURITE_TABLE_PORT: { fallback: 10_002, what: "Azurite's tables" },
  LISTEN_PORT: { fallback: 7075, what: "npm run listen" },
} as const;

/** The ports of `npm start`. That of `npm run listen` is not among them, so that both run at the same time. */
export type PortSetting = Exclude<keyof typeof PORTS, "LISTEN_PORT">;
export type Ports = Readonly<Record<PortSetting, number>>;

const isOfStart = (setting: string): setting is PortSetting => setting !== "LISTEN_PORT";
export const PORT_SETTINGS: readonly PortSetting[] = Object.keys(PORTS).filter(isOfStart);

const CONNECT_MS = 1_000;
/** From here on no program needs a right to listen. */
const PORT_MIN = 1_100;
const PORT_MAX = 65_535;
const PORT_STEP = 100;

/** The port that the environment names, or the usual one. */
export function portOf(setting: keyof typeof PORTS): number {
  const text = process.env[setting] ?? "";
  if (text === "") return PORTS[setting].fallback;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new Error(`${setting} must be a port from 1 to 65535, not ${JSON.stringify(text)}`);
  return port;
}

export function readPorts(): Ports {
  const entries = PORT_SETTINGS.map((setting) => [setting, portOf(setting)]);
  // Safe: one entry for every setting.
  return Object.fromEntries(entries) as Ports;
}

/**
 * Throws one message that names every port that can't be had, and ends with a start that can be pasted. `more` are
 * further settings of that start.
 */
export async function refuseTakenPorts(
  ports: Ports,
  settings: readonly PortSetting[],
  more = "",
): Promise<void> {
  const problems = await Promise.all(
    settings.map(async (setting, index) => {
      const port = ports[setting];
      const twin = settings.slice(0, index).find((other) => ports[other] === port);
      if (twin !== undefined)
        return { setting, problem: `${setting} and ${twin} both name port ${port}` };
      const trouble = await troubleWith(port);
      return trouble === undefined
        ? []
        : { setting, problem: `port ${port} for ${PORTS[setting].what} ${trouble}` };
    }),
  );
  const found = problems.flat();
  if (found.length === 0) return;
  const refused = new Set(found.map(({ setting }) => setting));
  const lines = found.map(({ problem }) => problem);
  const start = await startWithFreePorts(ports, settings, refused);
  const command = more === "" ? start : `${more} ${start}`;
  throw new Error([...lines, "", "These ports are free:", "", command].join("\n"));
}

/** Returns the command that starts with free ports instead of the refused ones, and with the others as they are. */
async function startWithFreePorts(
  ports: Ports,
  settings: readonly PortSetting[],
  refused: ReadonlySet<PortSetting>,
): Promise<string> {
  const used = new Set(Object.values(ports));
  const words: string[] = [];
  for (const setting of settings) {
    const port = refused.has(setting) ? await freePortFor(ports[setting], used) : ports[setting];
    used.add(port);
    if (port !== PORTS[setting].fallback) words.push(`${setting}=${port}`);
  }
  return [...words, "npm start", ...(settings.includes("PORT") ? [] : ["-- --no-host"])].join(" ");
}

/** Returns the next port, in steps that keep the last digits, that is neither used nor taken. */
async function freePortFor(taken: number, used: ReadonlySet<number>): Promise<number> {
  let port = taken;
  do port = port + PORT_STEP > PORT_MAX ? PORT_MIN + (port % PORT_STEP) : port + PORT_STEP;
  while (used.has(port) || (await troubleWith(port)) !== undefined);
  return port;
}

/**
 * Listening is not proof enough: some systems let a program listen on 127.0.0.1 beside another one that listens on every
 * address, and `localhost` may mean ::1.
 */
async function troubleWith(port: number): Promise<string | undefined> {
  const answers = await Promise.all(["127.0.0.1", "::1"].map((host) => isAnswered(host, port)));
  if (answers.includes(true)) return "is in use";
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EADDRINUSE" ? "is in use" : `can't be used (${code})`;
  } finally {
    server.close();
  }
}

export async function isAnswered(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: CONNECT_MS });
  socket.once("timeout", () => socket.destroy(new Error("no answer")));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
