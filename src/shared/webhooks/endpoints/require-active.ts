import { AppError } from "../../runtime/errors.ts";
import type { Endpoint } from "./endpoint.ts";

/** @throws AppError `invalid_state` while nothing is sent to the endpoint */
export function requireActive({ status }: Endpoint): void {
  if (status === "active") return;
  const message = "The webhook endpoint is disabled. Make it active first.";
  throw new AppError("invalid_state", message, { details: { status } });
}
