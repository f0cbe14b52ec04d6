import * as z from "zod";
import { shape } from "../runtime/shape.ts";
import type { Actor } from "./caller.ts";

export const actor = shape(
  () =>
    z
      .strictObject({
        kind: z.enum(["api_key", "session", "operator", "connect_session", "system"]),
        id: z.string(),
      })
      .meta({ id: "Actor", description: "Who did it." }) satisfies z.ZodType<Actor>,
);
