import type { DequeuedMessageItem } from "@azure/storage-queue";
import type { TypedData } from "./core-types.ts";
import type { TriggerData } from "./invocation.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text a function gets, or undefined when the message is not what `messageEncoding` promises. */
export function decodeMessage(text: string, encoding: "base64" | "none"): string | undefined {
  if (encoding === "none") return text;
  const compact = text.replaceAll(/\s/g, "");
  if (!BASE64.test(compact)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(compact, "base64"),
    );
  } catch {
    return undefined;
  }
}

/** What the storage extension tells a function about its message. The library parses a text that is JSON. */
export function toTriggerData(message: DequeuedMessageItem, text: string): TriggerData {
  return {
    input: { string: text },
    metadata: {
      QueueTrigger: { string: text },
      DequeueCount: json(message.dequeueCount),
      ExpirationTime: json(dotNetTime(message.expiresOn)),
      Id: { string: message.messageId },
      InsertionTime: json(dotNetTime(message.insertedOn)),
      NextVisibleTime: json(dotNetTime(message.nextVisibleOn)),
      PopReceipt: { string: message.popReceipt },
    },
  };
}

function json(value: unknown): TypedData {
  return { json: JSON.stringify(value) };
}

/** A .NET DateTimeOffset in JSON: whole seconds have no fraction, and UTC is an offset. */
export function dotNetTime(time: Date): string {
  return time.toISOString().replace(/(?:\.000)?Z$/, "+00:00");
}
