import type { Random } from "../../model/random.ts";
import { startFaultProxy } from "../../setup/fault-proxy.ts";
import type { Fault, FaultProxy, MessageFault } from "../../setup/fault-proxy.ts";

/** What befalls so many messages, in an order of chance: even a short soak sees all of it. */
const ROUND_LENGTH = 33;
const TROUBLES = ["swallow", "swallow", "twice", "twice", "late"] as const;
const COUNTED = { swallow: "dropped", twice: "doubled", late: "late" } as const;

export interface MessageCounts {
  sent: number;
  dropped: number;
  doubled: number;
  /** Sent too, and the sender was told that they were not. */
  late: number;
}

export interface QueueWeather {
  readonly counts: MessageCounts;
  /** The storage account's connection string with the proxy in front of its queues. */
  readonly connectionString: string;
  /** From now on every message is sent once. */
  calm(): void;
  stop(): Promise<void>;
}

const QUEUE_PORT = /(QueueEndpoint=http:\/\/127\.0\.0\.1:)(\d+)/;

function newRound(random: Random): (Fault | MessageFault)[] {
  const round = Array.from(
    { length: ROUND_LENGTH },
    (_, at): Fault | MessageFault => TROUBLES[at] ?? "pass",
  );
  for (let at = round.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [round[at], round[other]] = [round[other] ?? "pass", round[at] ?? "pass"];
  }
  return round;
}

/** Loses and doubles messages between the product and the queues of a local storage account. */
export async function startQueueWeather(
  connectionString: string,
  random: Random,
): Promise<QueueWeather> {
  const counts: MessageCounts = { sent: 0, dropped: 0, doubled: 0, late: 0 };
  let isCalm = false;
  let round: (Fault | MessageFault)[] = [];
  const choose = (): Fault | MessageFault => {
    counts.sent += 1;
    if (isCalm) return "pass";
    if (round.length === 0) round = newRound(random);
    const chosen = round.pop() ?? "pass";
    if (chosen in COUNTED) counts[COUNTED[chosen as keyof typeof COUNTED]] += 1;
    return chosen;
  };
  const port = QUEUE_PORT.exec(connectionString)?.[2];
  if (port === undefined) throw new Error("the storage account has no local queues");
  const proxy: FaultProxy = await startFaultProxy(Number(port), ({ method, path }) =>
    method === "POST" && /\/messages(\?|$)/.test(path) ? choose() : "pass",
  );
  return {
    counts,
    connectionString: connectionString.replace(QUEUE_PORT, `$1${proxy.port}`),
    calm() {
      isCalm = true;
    },
    stop: () => proxy.stop(),
  };
}
