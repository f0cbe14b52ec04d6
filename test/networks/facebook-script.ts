import { createHmac } from "node:crypto";
import { legsOf } from "./legs.ts";
import type { Script } from "./scripted-tools.ts";
import { NOW, answer, scriptedTools } from "./scripted-tools.ts";

export const GRAPH = "https://graph.facebook.com/v26.0";
const app = { id: "app-1", secret: "secret-1", version: "v26.0" };
export const credentials = {
  userId: "7",
  userToken: "user-token",
  pageId: "42",
  pageToken: "page-token",
};
export const proof = (token: string) =>
  createHmac("sha256", app.secret).update(token).digest("hex");
export const REELS = `POST ${GRAPH}/42/video_reels`;
export const LOOK = `GET ${GRAPH}/9`;
export const POSTS = `GET ${GRAPH}/42/published_posts`;
export const FEED_LIST = `GET ${GRAPH}/42/feed`;
export const STORIES = `GET ${GRAPH}/42/stories`;

export const FILE = "https://files.example/a.jpg";
export const SECOND = "https://files.example/z.jpg";
export const CLIP = "https://files.example/b.mp4";
export const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

export const leg = legsOf({
  account: {
    id: "42",
    username: "bakery",
    displayName: "Bakery",
    avatarUrl: null,
    url: "https://www.facebook.com/bakery",
    kind: "page",
  },
  credentials,
});

export const tools = (script: Script = {}) => scriptedTools({ app, ...script });
export const error = (code: number, subcode?: number, status = 400) =>
  answer(status, {
    error: {
      message: "words",
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
    },
  });
export const status = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  answer(200, { id: "9", status: fields, ...more });
export const uploaded = status({ uploading_phase: { status: "complete" } });
export const working = status({
  uploading_phase: { status: "complete" },
  processing_phase: { status: "in_progress" },
});
export const live = status(
  { video_status: "ready", publishing_phase: { status: "complete" } },
  { permalink_url: "/reel/9/" },
);
export const failed = status({ video_status: "error", processing_phase: { status: "error" } });

export const asText = { form: "text", photos: [] };
export const asPhotos = {
  form: "photos",
  photos: ["1", "2"],
  photosSince: ago(60).toISOString(),
};
export const asReel = {
  form: "reel",
  photos: [],
  video: {
    id: "9",
    uploadUrl: "https://rupload.facebook.com/video-upload/v26.0/9",
    handedOverAt: ago(60).toISOString(),
  },
};
