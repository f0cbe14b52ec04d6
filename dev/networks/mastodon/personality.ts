import { Refusal, empty, htmlPage, json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";
import { escapeHtml } from "../html.ts";
import { LENIENT_HOST } from "./state.ts";

/** How an instance behaves where Mastodon and the servers that are compatible with it differ. */
export interface Personality {
  readonly strict: boolean;
  readonly title: string;
  readonly version: string;
  readonly charactersMax: number;
  readonly mediaMax: number;
  readonly descriptionMax: number;
}

const MASTODON: Personality = {
  strict: true,
  title: "Sandbox Mastodon",
  version: "4.5.2",
  charactersMax: 500,
  mediaMax: 4,
  descriptionMax: 1500,
};

/** Takes nearly everything and keeps no idempotency keys, like several servers in the field. */
const COMPATIBLE: Personality = {
  strict: false,
  title: "Sandbox GoToSocial",
  version: "0.20.1+git-0000000",
  charactersMax: 5000,
  mediaMax: 6,
  descriptionMax: 1500,
};

/** Every host but the one compatible server is an instance of Mastodon. */
export function personalityOf(host: string): Personality {
  return host === LENIENT_HOST ? COMPATIBLE : MASTODON;
}

/** An error as the host's server writes it: Mastodon a string in JSON, the compatible one an object, HTML or nothing. */
export function errorAnswer(host: string, status: number, message: string): Answer {
  if (personalityOf(host).strict) return json(status, { error: message });
  if (status === 422) return empty(422);
  if (status === 404 || status >= 500)
    return htmlPage(
      status,
      `<!doctype html><title>${status}</title><h1>${escapeHtml(message)}</h1>`,
    );
  return json(status, { error: { code: status, message } });
}

export function refusal(host: string, status: number, message: string): Refusal {
  return new Refusal(errorAnswer(host, status, message));
}
