import type { Exchange } from "../exchange.ts";
import { badParameter } from "./errors.ts";
import { project } from "./fields.ts";
import type { GraphNode } from "./fields.ts";
import { readParameters, sentToken, textParameter } from "./parameters.ts";

const LIMIT = 25;
const LIMIT_MAX = 100;

function limitOf(given: string | undefined): number {
  const limit = Number(given ?? LIMIT);
  if (!Number.isInteger(limit) || limit < 1) throw badParameter("limit must be a positive integer");
  return Math.min(limit, LIMIT_MAX);
}

const cursorOf = (id: unknown): string => Buffer.from(String(id)).toString("base64url");

/** The address of the next page: Meta puts the token into it, however it was sent. */
function nextAddress(exchange: Exchange, after: string): string {
  const query = new URLSearchParams(exchange.query);
  query.set("after", after);
  const token = sentToken(exchange);
  if (token !== undefined) query.set("access_token", token);
  return `https://${exchange.host}${exchange.path}?${query.toString()}`;
}

/** One page of a list, with the cursors to the others. */
export function edge(
  exchange: Exchange,
  nodes: readonly GraphNode[],
  fallbackFields: string,
): Record<string, unknown> {
  const parameters = readParameters(exchange);
  const limit = limitOf(textParameter(parameters, "limit"));
  const after = textParameter(parameters, "after");
  const start =
    after === undefined ? 0 : nodes.findIndex(({ values }) => cursorOf(values["id"]) === after) + 1;
  const shown = nodes.slice(start, start + limit);
  const fields = textParameter(parameters, "fields");
  const data = shown.map((node) => project(node, fields, fallbackFields));
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) return { data };
  const cursors = { before: cursorOf(first.values["id"]), after: cursorOf(last.values["id"]) };
  const isLast = start + limit >= nodes.length;
  const paging = isLast ? { cursors } : { cursors, next: nextAddress(exchange, cursors.after) };
  return { data, paging };
}

/** `since` and `until`: seconds since the epoch, or a date as text. */
export function timeParameter(exchange: Exchange, name: string): number | undefined {
  const given = textParameter(readParameters(exchange), name);
  if (given === undefined) return undefined;
  const time = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given);
  if (Number.isNaN(time)) throw badParameter(`${name} is not a time`);
  return time;
}
