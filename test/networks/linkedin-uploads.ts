import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import { files } from "./legs.ts";
import { type Script, answer, image } from "./scripted-tools.ts";
import { CLIP, FILE, PAPER, REST, SECOND, leg, tools } from "./linkedin-script.ts";

export const UPLOADS = "https://www.linkedin.com/dms-uploads";
export const LOOK = (kind: string, name: string) =>
  `GET ${REST}/${kind}s/urn%3Ali%3A${kind}%3A${name}`;
export const available = answer(200, { status: "AVAILABLE" });
export const script: Script = {
  media: {
    [FILE]: image(),
    [SECOND]: image({ contentType: "image/png" }),
    [CLIP]: image({ contentType: "video/mp4", bytes: Buffer.from("0123456789") }),
    [PAPER]: image({ contentType: "application/pdf" }),
  },
};
export const prepare = (
  http: NonNullable<Script["http"]>,
  draft: Partial<LegDraft> = { media: files(FILE) },
  overrides: Partial<LegToPublish> = {},
) => linkedin.calls.publish.prepare(leg(draft, overrides), tools({ ...script, http }));
