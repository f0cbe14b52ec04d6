import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { fetchFile } from "../fetched-file.ts";
import { badParameter, graphRefusal } from "../graph/errors.ts";
import { project } from "../graph/fields.ts";
import { flagParameter, readParameters, readSource, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import { pictureFacts } from "../media-facts.ts";
import type { PictureFacts } from "../media-facts.ts";
import type { Route } from "../network.ts";
import { authorizePage } from "./access.ts";
import { photoNode } from "./nodes.ts";
import { publishPost } from "./publishing.ts";
import { nextId } from "./state.ts";
import type { FacebookShared, Photo } from "./state.ts";
import { route } from "../network.ts";

/** developers.facebook.com/docs/graph-api/reference/page/photos: 10 MB, and these types. */
const BYTES_MAX = 10_000_000;
/** Room for the other parts of the form beside the largest file. */
const FORM_BYTES_MAX = BYTES_MAX + 64 * 1024;
const TYPES = ["jpg", "png", "gif", "bmp", "tiff"];

function unreadableFiles() {
  return graphRefusal({
    message: "Invalid parameter",
    code: 100,
    subcode: 1366046,
    userTitle: "Can't Read Files",
    userMessage:
      "Your photos couldn't be uploaded. Photos should be smaller than 10 MB and saved as JPG, PNG, GIF or TIFF files.",
  });
}

type Fetched = Awaited<ReturnType<typeof fetchFile>>;

/** The file that came with the request, or the one at the address that it names. */
async function givenFile(shared: FacebookShared, exchange: Exchange): Promise<Fetched> {
  const source = await readSource(exchange);
  if (source !== undefined) {
    const bytes = Buffer.from(await source.arrayBuffer());
    return bytes.length > BYTES_MAX ? { kind: "too_large" } : { kind: "file", bytes };
  }
  const url = textParameter(readParameters(exchange), "url");
  if (url === undefined) throw graphRefusal({ message: "(#324) Requires upload file", code: 324 });
  if (!URL.canParse(url)) throw badParameter("url should represent a valid URL");
  return fetchFile(shared, url, BYTES_MAX);
}

function readPicture(fetched: Fetched): { bytes: Buffer; facts: PictureFacts } {
  if (fetched.kind === "too_large") throw unreadableFiles();
  const facts = fetched.kind === "file" ? pictureFacts(fetched.bytes) : undefined;
  if (fetched.kind !== "file" || facts === undefined)
    throw graphRefusal({
      message: "(#324) Missing or invalid image file",
      code: 324,
      subcode: 2069019,
      userTitle: "Missing or invalid image file",
      userMessage: "The photo could not be read.",
    });
  if (!TYPES.includes(facts.type)) throw unreadableFiles();
  return { bytes: fetched.bytes, facts };
}

async function upload(shared: FacebookShared, exchange: Exchange, plan: Plan): Promise<Answer> {
  const page = authorizePage(shared, exchange, "pages_manage_posts");
  const { bytes, facts } = readPicture(await givenFile(shared, exchange));
  const parameters = readParameters(exchange);
  const caption =
    textParameter(parameters, "caption") ?? textParameter(parameters, "message") ?? null;
  const isPublished = flagParameter(parameters, "published", true);
  const photo: Photo = {
    ...facts,
    id: nextId(shared.state),
    pageId: page.id,
    alt: textParameter(parameters, "alt_text_custom") ?? null,
    caption,
    sha256: shared.blobs.put(bytes),
    bytes: bytes.length,
    createdAt: shared.now(),
    postId: null,
    pollsLeft: plan.processing ?? 0,
    delayed: plan.processing !== undefined,
  };
  keep(shared.state.photos, photo.id, photo);
  const asked = textParameter(parameters, "fields");
  if (!isPublished)
    return asked === undefined
      ? json(200, { id: photo.id })
      : json(200, project(photoNode(photo), asked, "id"));
  const post = publishPost(shared, {
    pageId: page.id,
    form: "post",
    message: caption,
    link: null,
    photoIds: [photo.id],
    videoId: null,
    isPublished,
  });
  photo.postId = post.id;
  return json(200, { id: photo.id, post_id: post.id });
}

export function photoRoutes(shared: FacebookShared): Route[] {
  return [
    route("POST /{id}/photos", "photos", (exchange, plan) => upload(shared, exchange, plan), {
      bodyMax: FORM_BYTES_MAX,
      magic: async (exchange) => {
        await readSource(exchange);
        const parameters = readParameters(exchange);
        const names = ["alt_text_custom", "caption", "message"];
        const text = names.map((name) => textParameter(parameters, name) ?? "").join("\n");
        return { text, key: "" };
      },
    }),
  ];
}
