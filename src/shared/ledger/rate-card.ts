import type { NetworkName } from "../networks/networks.ts";

/** Acts with a price in tokens. The API and the ledger's rows name them in `operation`. */
export const RATE_CARD = {
  "posts.validate": {
    tokens: 1,
    unit: "call",
    description: "Check a post against the networks' rules.",
  },
  "media.validate": {
    tokens: 1,
    unit: "URL",
    description: "Fetch and check one media URL while validating.",
  },
  publish_leg: {
    tokens: 10,
    unit: "leg",
    description: "Publish to one network; settled when it succeeded.",
  },
  "posts.retry_leg": {
    tokens: 10,
    unit: "leg",
    description: "Retry a failed leg; settled when it succeeded.",
  },
  "posts.schedule": { tokens: 2, unit: "post", description: "Store a post for later." },
  "connections.link": { tokens: 5, unit: "account", description: "Link a new account." },
  "webhooks.create": { tokens: 5, unit: "endpoint", description: "Register a webhook endpoint." },
} as const;
const VERSION = "1";

export type PricedAct = keyof typeof RATE_CARD;
/** What moves tokens: a priced act or a credit. */
export type WalletAct = PricedAct | "billing.credit";

export function priceOf(operation: PricedAct): number {
  return RATE_CARD[operation].tokens;
}

/**
 * Returns the price of publishing to these networks, plus that of scheduling when the post is scheduled. A post that no
 * network accepts is refused and costs nothing.
 */
export function estimateTokens(networks: readonly NetworkName[], scheduled: boolean): number {
  if (networks.length === 0) return 0;
  return networks.length * priceOf("publish_leg") + (scheduled ? priceOf("posts.schedule") : 0);
}

export interface RateCard {
  readonly currency: "tokens";
  readonly version: string;
  readonly items: readonly {
    readonly operation: PricedAct;
    readonly tokens: number;
    readonly unit: string;
    readonly description: string;
  }[];
}

export function rateCard(): RateCard {
  // Safe: these are all keys of the card.
  const operations = Object.keys(RATE_CARD) as PricedAct[];
  const items = operations.map((operation) => ({ operation, ...RATE_CARD[operation] }));
  return { currency: "tokens", version: VERSION, items };
}
