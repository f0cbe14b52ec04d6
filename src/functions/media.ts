import { file, readyFileExample, waitingFileExample } from "../shared/files/answer-schema.ts";
import {
  addressOfContent,
  completeFile,
  createFile,
  deleteFile,
  getFile,
  issuesOfFile,
  listFiles,
  openUploaded,
} from "../shared/files/files.ts";
import { CreateFileBody, ListFilesQuery } from "../shared/files/schema.ts";
import { anyone } from "../shared/http/access/access.ts";
import {
  activeProfileScope,
  profileOrApplication,
  profileScope,
} from "../shared/http/access/profile-access.ts";
import { image, Reply } from "../shared/http/reply.ts";
import { route, type Route } from "../shared/http/route.ts";

export const mediaRoutes: readonly Route[] = [
  route("POST", "v1/media", {
    operationId: "createMedia",
    summary: "Announce a file",
    description:
      "Announces a file, and returns the address that accepts its bytes. Next, send them to `upload.url`, in one PUT with `upload.headers` and without your key: `curl -T sourdough.jpg -H 'content-type: image/jpeg' -H 'x-ms-blob-type: BlockBlob' \"$UPLOAD_URL\"`. Then call `complete`. The address accepts this one file, once, for 30 minutes; repeat a PUT that broke off. A file that isn't completed is removed after 4 hours. A platform can have 100 files that wait, and 20 GiB of files, or 1 GiB until an operator has credited it; above that, the response is 409 `limit_reached`. Files cost no tokens.",
    access: activeProfileScope,
    body: CreateFileBody,
    moreIssues: ({ services, body }) => issuesOfFile(services.publishing.files, body),
    status: 201,
    response: file,
    answerHeaders: ["Vary"],
    errors: ["limit_reached"],
    examples: () => ({
      body: { contentType: "image/jpeg" as const, bytes: 482_113, filename: "sourdough.jpg" },
      answer: waitingFileExample(),
    }),
    run: ({ services, scope, body }) => createFile(services.publishing.files, scope, body),
  }),
  route("POST", "v1/media/{mediaId}/complete", {
    operationId: "completeMedia",
    summary: "Complete an upload",
    description:
      "Call it after the PUT. It reads what the file is, once, and posts with the file are checked by these facts. A repeated call gets the same response. 409 `invalid_state` means that no bytes have arrived. 422 `media_rejected` means that the bytes aren't what was announced, or can't be read: they are removed, and the file is `rejected`. A file that breaks a network's rule is `ready`, and `fits` says so.",
    access: activeProfileScope,
    response: file,
    answerHeaders: ["Vary"],
    errors: ["not_found", "invalid_state", "media_rejected"],
    examples: () => ({ answer: readyFileExample() }),
    run: ({ services, scope, params }) =>
      completeFile(services.publishing.files, scope, params.mediaId),
  }),
  route("GET", "v1/media", {
    operationId: "listMedia",
    summary: "List files",
    description:
      "Lists the files of the profile, or of all profiles of the application, newest first. A page that is filtered may be short while `hasMore` is true.",
    access: profileOrApplication,
    query: ListFilesQuery,
    response: file,
    answerHeaders: ["Vary"],
    list: true,
    examples: () => ({ answer: readyFileExample() }),
    run: ({ services, scope, query }) => listFiles(services.publishing.files, scope, query),
  }),
  route("GET", "v1/media/{mediaId}", {
    operationId: "getMedia",
    summary: "Get a file",
    description:
      "Returns what the file is, which networks accept it (`fits`), a picture to show (`previewUrl`) and how long it is kept. A deleted file, and one past `keptUntil`, is 404.",
    access: profileOrApplication,
    response: file,
    answerHeaders: ["Vary"],
    errors: ["not_found"],
    examples: () => ({ answer: readyFileExample() }),
    run: ({ services, scope, params }) => getFile(services.publishing.files, scope, params.mediaId),
  }),
  route("GET", "v1/media/{mediaId}/content", {
    operationId: "getMediaContent",
    summary: "Read a file's bytes",
    description:
      "Redirects to an address in storage at which the bytes can be read for 5 minutes. Follow it without your key, as `curl -L` does. Browsers save the file and don't show it. Posts name the file by the address of this operation, its `url`. A file that isn't `ready` is 409 `invalid_state`.",
    access: profileOrApplication,
    status: 302,
    answers: { 302: "The bytes are at `Location`, for 5 minutes." },
    answerHeaders: ["Location"],
    errors: ["not_found", "invalid_state"],
    run: async ({ services, scope, params }) => {
      const location = await addressOfContent(services.publishing.files, scope, params.mediaId);
      return new Reply({ status: 302, headers: [["location", location]] });
    },
  }),
  route("DELETE", "v1/media/{mediaId}", {
    operationId: "deleteMedia",
    summary: "Delete a file",
    description:
      "From then on, no one can read the file, and no new post can use it. Its bytes are deleted immediately if no post uses it, otherwise at `keptUntil`. Until then, posts that use it are published with it, and the request can be repeated. This also works for a disabled profile.",
    access: profileScope,
    status: 204,
    errors: ["not_found"],
    run: ({ services, scope, params }) =>
      deleteFile(services.publishing.files, scope, params.mediaId),
  }),
  route("GET", "v1/media/public/{token}", {
    operationId: "getPublicMedia",
    summary: "A converted image, for a network that downloads files itself",
    calledBy: "networks",
    description:
      "The service gives these URLs to networks, and as `previewUrl` of files. They are valid for 26 hours. The token is encrypted, so no one else can create one.",
    access: anyone,
    produces: "image",
    answers: { 200: "The image, usually a JPEG." },
    errors: ["not_found", "service_unavailable"],
    async run({ services, params }) {
      // Loaded on first use, because no other route needs the code that reads an image.
      const { serveFitted } = await import("../shared/media/fitted-url.ts");
      const { connections, publishing } = services;
      const open = { openFile: openUploaded.bind(undefined, publishing.files) };
      return image(await serveFitted({ ...connections, ...open }, params.token));
    },
  }),
];
