// A page that sends a file of the visitor's disk straight to storage, and posts it. Your server never has the bytes.
//
//   npm start
//   node examples/upload.mjs
//
// Then open http://localhost:3002/. Needs Node 20 and the client, which `npm ci` links.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { isRelayError, RelayClient } from "publishing-relay-client";

const PORT = Number(process.env.UPLOAD_PORT ?? 3002);
const BODY_BYTES_MAX = 64 * 1024;

const demoFile = process.env.RELAY_DEMO ?? ".local/demo.json";
const demo = existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, "utf8")) : {};
// The key stays here. A real product knows its visitor, and names the visitor's profile.
const relay = new RelayClient({
  baseUrl: process.env.RELAY_URL ?? demo.baseUrl ?? "",
  key: process.env.RELAY_KEY ?? demo.apiKey,
  profileId: process.env.RELAY_PROFILE ?? demo.profileId,
});

/** Announces the file. The page gets only the address, which takes this one file for 30 minutes. */
async function announce({ contentType, bytes, filename }) {
  const { id, upload } = await relay.createMedia({ contentType, bytes, filename });
  return { id, upload };
}

/** Completes the upload, and posts the file to the networks that accept it. */
async function publish(mediaId, { text, key }) {
  const { url, fits } = await relay.completeMedia({ mediaId });
  const platforms = Object.keys(fits).filter((network) => fits[network].ok);
  const refused = Object.entries(fits).flatMap(([network, { problems }]) =>
    problems.map(({ message, remediation }) => `${network}: ${message} ${remediation}`),
  );
  if (platforms.length === 0) return { lines: refused };
  const post = { text, platforms, mediaUrls: [url], idempotencyKey: key };
  const { legs } = await relay.waitForPost((await relay.createPost(post)).id);
  const ends = legs.map(({ platform, url, error }) => `${platform}: ${url ?? error?.message}`);
  return { lines: [...ends, ...refused] };
}

/** Says what is wrong with a file in words for the visitor. Other errors are not the visitor's. */
function wordsFor(error) {
  if (isRelayError(error, "media_rejected")) {
    const found = error.details.problems.map(({ message, remediation }) => [message, remediation]);
    return { status: 422, message: found.flat().join(" ") };
  }
  if (isRelayError(error, "validation_failed"))
    return {
      status: 422,
      message: "This file can't be posted: it is of another type, or too large.",
    };
  return { status: 502, message: "That did not work. Try again." };
}

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Upload</title>
<style>body{font:1rem/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem}progress{width:100%}</style>
<h1>Post a file</h1>
<form><p><label>File <input type="file" name="file" required></label></p>
<p><label>Text <input name="text" required></label> <button>Post</button></p></form>
<progress max="1" value="0" aria-label="Bytes sent"></progress><ul role="status"></ul>
<script>
  const [form] = document.forms;
  const show = (lines) =>
    document.querySelector("ul").replaceChildren(...lines.map((line) =>
      Object.assign(document.createElement("li"), { textContent: line })));
  const call = async (path, body) => {
    const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
    const result = await answer.json();
    if (!answer.ok) throw new Error(result.message);
    return result;
  };
  // fetch doesn't say how far an upload is. XMLHttpRequest does.
  const put = (file, { url, headers }) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const name in headers) request.setRequestHeader(name, headers[name]);
    request.upload.onprogress = ({ loaded }) => { document.querySelector("progress").value = loaded / file.size; };
    request.onload = () => request.status === 201 ? resolve() : reject(new Error("Storage answered " + request.status));
    request.onerror = () => reject(new Error("The upload broke off. Try again."));
    request.send(file);
  });
  form.onsubmit = async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const file = form.file.files[0];
      // Systems without a program for HEIC tell the page no type.
      const contentType = file.type || (/\\.hei[cf]$/i.test(file.name) ? "image/heic" : "application/octet-stream");
      show(["Uploading …"]);
      const { id, upload } = await call("/files", { contentType, bytes: file.size, filename: file.name });
      await put(file, upload);
      show(["Posting …"]);
      show((await call("/files/" + id, { text: form.text.value, key: "upload-" + id })).lines);
    } catch (error) {
      show([error.message]);
    }
    button.disabled = false;
  };
</script>`;

async function readObject(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > BODY_BYTES_MAX) throw new Error("the body is too large");
  }
  return JSON.parse(text);
}

async function answer(request) {
  const { method, url } = request;
  if (method === "GET" && url === "/") return { type: "text/html; charset=utf-8", body: PAGE };
  const [, id] = /^\/files(?:\/(\w+))?$/.exec(url) ?? [null, null];
  // A page of another site can send a form, too, and says where it comes from.
  const isForeign = request.headers["sec-fetch-site"] === "cross-site";
  if (method !== "POST" || id === null || isForeign)
    return { status: 404, body: JSON.stringify({ message: "There is no such page." }) };
  const given = await readObject(request);
  const result = id === undefined ? await announce(given) : await publish(id, given);
  return { body: JSON.stringify(result) };
}

createServer((request, response) => {
  void answer(request)
    .catch((error) => {
      console.error(error.message);
      const { status, message } = wordsFor(error);
      return { status, body: JSON.stringify({ message }) };
    })
    .then(({ status = 200, type = "application/json", body }) =>
      response.writeHead(status, { "content-type": type }).end(body),
    );
}).listen(PORT, "127.0.0.1", () => console.log(`Open http://localhost:${PORT}/`));
