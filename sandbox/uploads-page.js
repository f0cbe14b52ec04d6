// The script of the page `/uploads`, served as it is. The page has no framework, and nothing of it is built.
"use strict";

const { platforms, baseUrl, profileId, curlFile } = JSON.parse(
  document.querySelector("main").dataset.demo,
);
const PAGE_LIMIT = 10;
const POLL_MS = 1000;
const POLLS_MAX = 90;
/** An upload address is valid for as long. */
const SEND_MS_MAX = 30 * 60 * 1000;
const WAITING_MS = 4 * 3600 * 1000;

/** Types by the ends of names: systems without an application for a file tell the browser none, often of a HEIC. */
const TYPES = {
  heic: "image/heic",
  heif: "image/heif",
  avif: "image/avif",
  tif: "image/tiff",
  tiff: "image/tiff",
  mov: "video/quicktime",
  m4a: "audio/mp4",
  flac: "audio/flac",
  doc: "application/msword",
  ppt: "application/vnd.ms-powerpoint",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};
/** Names of one type that browsers use, by the one that the API uses. */
const SAME_TYPES = {
  "audio/mp3": "audio/mpeg",
  "audio/x-m4a": "audio/mp4",
  "audio/wave": "audio/wav",
  "audio/x-wav": "audio/wav",
  "audio/x-flac": "audio/flac",
};

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, properties = {}, ...children) => {
  const { dataset = {}, ...own } = properties;
  const made = Object.assign(document.createElement(tag), own);
  Object.assign(made.dataset, dataset);
  made.append(...children.filter((child) => child !== null));
  return made;
};

const sizeOf = (bytes) => {
  if (bytes < 1000) return `${bytes} bytes`;
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 1 ? 0 : 1)} ${["", "KB", "MB", "GB"][power]}`;
};
const timeOf = (iso) =>
  make("time", {
    dateTime: iso,
    textContent: new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }),
  });
const typeOf = ({ name, type }) => {
  const [plain] = type.split(";", 1);
  const end = name.split(".").at(-1).toLowerCase();
  return SAME_TYPES[plain] ?? (plain || TYPES[end] || "application/octet-stream");
};

/** Says something to people who hear the page. */
const say = (text) => {
  one("#said").textContent = text;
};

/** What went wrong, for a person: a headline, and a line for each cause. */
class Trouble extends Error {
  constructor(message, lines = [], answer) {
    super(message);
    this.lines = lines;
    this.answer = answer;
  }
}

const troubleOf = (error) => (error instanceof Trouble ? error : new Trouble(error.message));

const causesOf = ({ details = {} }) => {
  const findings = [
    ...(details.problems ?? []),
    ...Object.values(details.platforms ?? {}).flatMap(({ errors = [] }) => errors),
  ];
  const issues = (details.issues ?? []).map(({ path, message }) =>
    message.includes(path) ? message : `${path}: ${message}`,
  );
  return [...issues, ...findings.map(({ message, remediation }) => `${message} ${remediation}`)];
};

/** Calls the relay through the sandbox, which adds the demo's key as a server of yours would add its own. */
async function ask(method, path, { body, headers = {}, signal } = {}) {
  let response, text;
  try {
    response = await fetch(`/uploads${path}`, {
      method,
      signal,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The sandbox doesn't answer.", ["Check that npm start is still running."]);
  }
  let parsed = {};
  try {
    parsed = text === "" ? {} : JSON.parse(text);
  } catch {
    throw new Trouble(`The answer ${response.status} isn't JSON.`, [text.slice(0, 200)]);
  }
  const answer = { status: response.status, body: parsed };
  const { error } = parsed;
  if (response.ok) return answer;
  const causes = causesOf(error ?? {});
  const message = error?.message ?? `The answer is ${response.status}.`;
  throw new Trouble(
    `${response.status} ${error?.code ?? ""}`.trim(),
    [...new Set(causes.length > 0 ? causes : [message])],
    answer,
  );
}

/** Sends the bytes as one PUT. Of all that pages have, only this request reports its progress. */
function send(file, { url, headers }, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const { origin } = new URL(url);
    request.open("PUT", url);
    request.timeout = SEND_MS_MAX;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    request.addEventListener("load", () => {
      const { status } = request;
      if (status >= 200 && status < 300) return resolve(status);
      const [, code = "an error"] = /<Code>([^<]*)</.exec(request.responseText) ?? [];
      const answer = { status, body: request.responseText };
      const lines = [
        `Storage answered with ${code}. An address takes one file, once, for 30 minutes.`,
      ];
      reject(new Trouble(`${status} from storage`, lines, answer));
    });
    const unreachable = () =>
      reject(
        new Trouble("Storage can't be reached.", [
          `Nothing answers at ${origin}. With npm start, this is Azurite: .local/azurite/azurite.log may say why.`,
        ]),
      );
    request.addEventListener("error", unreachable);
    request.addEventListener("timeout", unreachable);
    request.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

const PARTS = ["announce", "send", "complete"];
const stepOf = (name) => one(`#step-${name}`);

/** Shows how far a step is: "", "running", "done" or "failed". */
function mark(name, state, note = "") {
  const step = stepOf(name);
  step.dataset.state = state;
  one(".state", step).textContent = note;
  if (state === "running") step.setAttribute("aria-current", "step");
  else step.removeAttribute("aria-current");
}

function showAnswer(name, answer) {
  const details = one("details", stepOf(name));
  details.hidden = answer === undefined;
  if (answer === undefined) return;
  const { status, body } = answer;
  one("summary", details).textContent = `Answer: ${status}`;
  one("pre", details).textContent =
    typeof body === "string" ? body || "No content" : JSON.stringify(body, null, 2);
}

function showTrouble(place, trouble, retry) {
  const lines = trouble.lines.length === 1 ? [make("p", { textContent: trouble.lines[0] })] : [];
  if (trouble.lines.length > 1)
    lines.push(make("ul", {}, ...trouble.lines.map((textContent) => make("li", { textContent }))));
  const again = retry && make("button", { type: "button", textContent: "Try again" });
  again?.addEventListener("click", () => {
    place.replaceChildren();
    retry();
  });
  place.replaceChildren(make("strong", { textContent: trouble.message }), ...lines, again ?? "");
}

function resetSteps(names) {
  for (const name of names) {
    mark(name, "");
    showAnswer(name, undefined);
    one(".trouble", stepOf(name)).replaceChildren();
  }
  one("progress").value = 0;
  one("#sent").textContent = "";
}

/** The upload that the page is about: the file of the disk, and what the API said about it. */
let current = { file: undefined, media: undefined, address: undefined };
let run = new AbortController();

async function upload(from = "announce") {
  run.abort();
  run = new AbortController();
  const { signal } = run;
  const chosen = current;
  const { file } = chosen;
  const parts = PARTS.slice(PARTS.indexOf(from));
  resetSteps(parts);
  one("#result").hidden = true;
  one("#cancel").hidden = false;
  let step = from;
  const carryOut = async (name, work) => {
    step = name;
    mark(name, "running", "…");
    const startedAt = performance.now();
    const answer = await work();
    mark(name, "done", `${answer.status} · ${Math.round(performance.now() - startedAt)} ms`);
    showAnswer(name, answer);
    return answer;
  };
  const showSent = (bytes) => {
    one("progress").value = file.size === 0 ? 0 : bytes / file.size;
    one("#sent").textContent = `${sizeOf(bytes)} of ${sizeOf(file.size)}`;
  };
  try {
    if (parts.includes("announce")) {
      showSent(0);
      const body = { contentType: typeOf(file), bytes: file.size, filename: file.name };
      const announced = await carryOut("announce", () =>
        ask("POST", "/v1/media", { body, signal }),
      );
      chosen.media = announced.body.data;
      chosen.address = chosen.media.upload;
      showCode();
    }
    if (parts.includes("send")) {
      say(`Sending ${file.name}`);
      await carryOut("send", async () => ({
        status: await send(file, chosen.address, showSent, signal),
        body: "",
      }));
      showSent(file.size);
    }
    const completed = await carryOut("complete", () =>
      ask("POST", `/v1/media/${chosen.media.id}/complete`, { signal }),
    );
    chosen.media = completed.body.data;
    say(`${file.name} is uploaded`);
    showResult(chosen.media);
  } catch (error) {
    const isCanceled = error.name === "AbortError";
    // Another file was chosen meanwhile.
    if (isCanceled && signal !== run.signal) return;
    const trouble = troubleOf(isCanceled ? new Trouble("You canceled this.") : error);
    const { status = 0 } = trouble.answer ?? {};
    mark(step, "failed", isCanceled ? "Canceled" : "Failed");
    showAnswer(step, trouble.answer);
    // A refusal stays one, however often the same is sent.
    const isFinal = status >= 400 && status < 500;
    const failed = step;
    showTrouble(
      one(".trouble", stepOf(failed)),
      trouble,
      isFinal ? undefined : () => upload(failed),
    );
    say(`${trouble.message} ${trouble.lines.join(" ")}`);
  } finally {
    if (signal === run.signal) {
      one("#cancel").hidden = true;
      void showFiles();
    }
  }
}

function choose(files) {
  const [file] = files;
  if (file === undefined) return;
  const isOne = files.length === 1;
  one("#chosen").textContent =
    `${file.name} · ${typeOf(file)} · ${sizeOf(file.size)}${isOne ? "" : ` · one file at a time: ${files.length - 1} left out`}`;
  current = { file, media: undefined, address: undefined };
  showCode();
  void upload();
}

const inShell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same calls for a program of the reader's own. */
function showCode() {
  const { file, media, address } = current;
  const name = file?.name ?? "photo.heic";
  const type = file === undefined ? "image/heic" : typeOf(file);
  const bytes = file?.size ?? 2_104_882;
  const id = media?.id ?? "MEDIA_ID";
  const announced = JSON.stringify({ contentType: type, bytes, filename: name });
  // Otherwise curl reads brackets in the name as a pattern.
  const glob = /[[\]{}]/.test(name) ? "-g " : "";
  const client = (auth) =>
    `const relay = new RelayClient({\n  baseUrl: ${JSON.stringify(baseUrl)},\n  ${auth},\n  profileId: ${JSON.stringify(profileId)},\n});`;
  const post = `await relay.createPost({\n  text: "From my disk",\n  platforms: ["bluesky", "mastodon"],\n  mediaUrls: [file.url],\n});`;
  const codes = {
    curl: `# 1. Announce the file. The answer has its id and upload.url.
curl -K ${curlFile} ${baseUrl}/v1/media \\
  -d ${inShell(announced)}

# 2. Send the bytes to storage, without the API key.
curl ${glob}-T ${inShell(name)} -H ${inShell(`content-type: ${type}`)} \\
  -H 'x-ms-blob-type: BlockBlob' \\
${inShell(address?.url ?? "UPLOAD_URL")}

# 3. Complete the upload. "fits" says which networks accept the file.
curl -K ${curlFile} -X POST \\
${baseUrl}/v1/media/${id}/complete

# Then use its address in a post.
curl -K ${curlFile} ${baseUrl}/v1/posts \\
  -H "Idempotency-Key: upload-$(date +%s)" \\
  -d '{"text": "From my disk at '"$(date +%T)"'", "platforms": ["bluesky", "mastodon"],
"mediaUrls": ["${baseUrl}/v1/media/${id}/content"]}'`,
    server: `import { openAsBlob } from "node:fs";
import { RelayClient } from "publishing-relay-client";

${client("key: process.env.RELAY_KEY")}

const bytes = await openAsBlob(${JSON.stringify(name)}, { type: ${JSON.stringify(type)} });
const file = await relay.uploadFile(bytes, { filename: ${JSON.stringify(name)} });
console.log(file.fits);

${post}`,
    page: `import { RelayClient } from "publishing-relay-client";

// \`session\` is the token that relay.logIn returned. A page never uses an API key.
// CORS has to allow its origin: docs/local.md#pages-of-another-origin
${client("session")}

const [chosen] = document.querySelector("input[type=file]").files;
const file = await relay.uploadFile(chosen, {
  onProgress: (sent, total) => {
    document.querySelector("progress").value = sent / total;
  },
});

${post}`,
  };
  for (const [name, code] of Object.entries(codes)) one(`#code-${name} pre`).textContent = code;
}

const titleOf = (platform) => platforms.find(({ name }) => name === platform)?.title ?? platform;

function fitView([platform, { ok, problems }]) {
  const item = make("li", { className: ok ? "fits" : "misfits" });
  const text = ok ? "accepts it" : "can't publish it";
  item.append(make("strong", { textContent: titleOf(platform) }), ` ${text}`);
  for (const { message, remediation, rule, docUrl } of problems)
    item.append(
      make(
        "p",
        {},
        message,
        make("span", { className: "remedy", textContent: remediation }),
        make("a", { href: docUrl, target: "_blank", textContent: rule ?? "What it means" }),
      ),
    );
  return item;
}

function previewOf({ id, contentType, filename, previewUrl }) {
  const name = filename ?? id;
  // A moment from its beginning is shown instead of nothing.
  const src = `/uploads/v1/media/${id}/content#t=0.1`;
  if (previewUrl !== null)
    return make("img", { src: previewUrl, alt: `Preview of ${name}`, loading: "lazy" });
  if (contentType.startsWith("video/"))
    return make("video", {
      src,
      controls: true,
      muted: true,
      preload: "metadata",
      ariaLabel: name,
    });
  if (contentType.startsWith("audio/"))
    return make("audio", { src, controls: true, preload: "metadata", ariaLabel: name });
  const label = /pdf/.test(contentType)
    ? "PDF"
    : /word/.test(contentType)
      ? "DOC"
      : /powerpoint|presentation/.test(contentType)
        ? "PPT"
        : "FILE";
  return make("span", { className: "sheet", textContent: label });
}

function showResult(media) {
  const { id, filename, contentType, bytes, width, height, durationSeconds, animated } = media;
  const facts = [
    ["Type", contentType],
    [
      "Size",
      bytes < 1000 ? sizeOf(bytes) : `${sizeOf(bytes)} (${bytes.toLocaleString("en")} bytes)`,
    ],
    ["Dimensions", width === null ? null : `${width} × ${height} pixels`],
    ["Length", durationSeconds === null ? null : `${durationSeconds.toFixed(1)} seconds`],
    ["Animated", animated === true ? "yes" : null],
    ["Kept until", timeOf(media.keptUntil)],
    ["Id", make("code", { textContent: id })],
    ["Address in posts", make("code", { textContent: media.url })],
  ].filter(([, value]) => value !== null);
  one("#name").textContent = filename ?? id;
  one("#preview").replaceChildren(previewOf(media));
  one("#facts").replaceChildren(
    ...facts.map(([name, value]) =>
      make("div", {}, make("dt", { textContent: name }), make("dd", {}, value)),
    ),
  );
  const known = platforms.filter(({ name }) => media.fits?.[name] !== undefined);
  one("#fits").replaceChildren(...known.map(({ name }) => fitView([name, media.fits[name]])));
  const isVideo = /^(?:video|audio)\//.test(contentType);
  one("#alt").closest("label").hidden = !contentType.startsWith("image/") && !isVideo;
  one("#alt").value = "";
  one("#text").value = `From my disk at ${new Date().toLocaleTimeString("en-GB")}`;
  for (const box of all("#publish [name=platform]"))
    box.checked = media.fits?.[box.value]?.ok === true;
  one("#publish").dataset.url = media.url;
  for (const place of [one("#outcome"), one("#publish .trouble")]) place.replaceChildren();
  one("#result").hidden = false;
}

/** Where the sandbox shows what a leg published. */
async function pageOf(url) {
  const response = await fetch("/_sandbox/posts");
  const { posts } = await response.json();
  return posts.find((post) => post.url === url)?.page;
}

async function legView({ platform, status, url, error }) {
  const item = make("li", { className: status === "succeeded" ? "fits" : "misfits" });
  if (status === "pending" || status === "publishing") item.className = "waits";
  item.append(make("strong", { textContent: titleOf(platform) }), ` ${error ? "failed" : status}`);
  const page = url === null ? undefined : await pageOf(url);
  if (page !== undefined)
    item.append(" ", make("a", { href: encodeURI(page), textContent: "See the post" }));
  if (error !== null)
    item.append(
      make(
        "p",
        {},
        error.message,
        make("span", { className: "remedy", textContent: error.remediation }),
        make("a", { href: error.docUrl, target: "_blank", textContent: error.rule ?? error.code }),
      ),
    );
  return item;
}

one("#publish").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  const button = one("button", form);
  const place = one(".trouble", form);
  const outcome = one("#outcome");
  const wanted = all("[name=platform]:checked", form).map(({ value }) => value);
  place.replaceChildren();
  outcome.replaceChildren();
  if (wanted.length === 0)
    return showTrouble(place, new Trouble("Choose at least one network.", []));
  button.disabled = true;
  const alt = one("#alt").value.trim();
  const body = {
    text: one("#text").value,
    platforms: wanted,
    mediaUrls: [form.dataset.url],
    ...(alt === "" ? {} : { altTexts: [alt] }),
  };
  const { url } = form.dataset;
  try {
    const key = `uploads-page-${Date.now()}`;
    const accepted = await ask("POST", "/v1/posts", { body, headers: { "idempotency-key": key } });
    let post = accepted.body.data;
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      const legs = await Promise.all(post.legs.map(legView));
      // Another file was chosen meanwhile.
      if (url !== form.dataset.url) return;
      outcome.replaceChildren(...legs);
      if (post.status !== "processing") break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      post = (await ask("GET", `/v1/posts/${post.id}`)).body.data;
    }
    say(`The post has ${post.status}. ${post.tokens.charged} tokens were charged.`);
    const line = `Post ${post.status} · ${post.tokens.charged} tokens charged, none of them for the file`;
    outcome.append(make("li", { className: "sum", textContent: line }));
    void showFiles();
  } catch (error) {
    showTrouble(place, troubleOf(error));
    say(error.message);
  } finally {
    button.disabled = false;
  }
});

const STATES = { waiting: "Waiting for its bytes", ready: "Ready", rejected: "Rejected" };

function rowOf(media) {
  const { id, filename, status, contentType, bytes, problem, createdAt, keptUntil } = media;
  const name = filename ?? id;
  const ends =
    status === "waiting" ? new Date(Date.parse(createdAt) + WAITING_MS).toISOString() : keptUntil;
  const use = make("button", { type: "button", textContent: "Open", ariaLabel: `Open ${name}` });
  use.hidden = status !== "ready";
  use.addEventListener("click", () => {
    run.abort();
    current = { file: { name, type: contentType, size: bytes }, media, address: undefined };
    one("#cancel").hidden = true;
    one("#chosen").textContent = "";
    resetSteps(PARTS);
    showCode();
    showResult(media);
    one("#name").focus();
  });
  const remove = make("button", {
    type: "button",
    className: "danger",
    textContent: "Delete",
    ariaLabel: `Delete ${name}`,
  });
  remove.addEventListener("click", () => askToDelete(media));
  const row = make("li", { dataset: { state: status } });
  const small = /^(?:video|audio)\//.test(contentType)
    ? make("span", {
        className: "sheet",
        textContent: contentType.startsWith("video/") ? "▶" : "♪",
      })
    : previewOf(media);
  small.alt = "";
  if (small.matches(".sheet")) small.ariaHidden = "true";
  row.append(
    make("span", { className: "thumb" }, small),
    make(
      "span",
      { className: "what" },
      make("strong", { textContent: name }),
      make("small", { textContent: `${contentType} · ${sizeOf(bytes)}` }),
    ),
    make("span", { className: "badge", textContent: STATES[status] }),
    make(
      "small",
      { className: "kept" },
      status === "ready" ? "Kept until " : "Will be removed ",
      timeOf(ends),
    ),
    make("span", { className: "acts" }, use, remove),
  );
  if (problem !== null) row.append(make("p", { textContent: problem.message }));
  return row;
}

async function showFiles(cursor) {
  const list = one("#files");
  const place = one("#listed .trouble");
  const more = one("#more");
  const query = new URLSearchParams({ limit: String(PAGE_LIMIT), ...(cursor ? { cursor } : {}) });
  try {
    const { body } = await ask("GET", `/v1/media?${query}`);
    place.replaceChildren();
    const rows = body.data.map(rowOf);
    if (cursor) list.append(...rows);
    else list.replaceChildren(...rows);
    one("#none").hidden = list.children.length > 0;
    list.hidden = list.children.length === 0;
    more.hidden = !body.page.hasMore;
    more.onclick = () => void showFiles(body.page.nextCursor);
  } catch (error) {
    showTrouble(place, troubleOf(error), () => showFiles(cursor));
  }
}

function askToDelete({ id, filename }) {
  const dialog = one("dialog");
  const name = filename ?? id;
  one("#doomed").textContent = name;
  dialog.returnValue = "";
  dialog.onclose = async () => {
    if (dialog.returnValue !== "delete") return;
    try {
      await ask("DELETE", `/v1/media/${id}`);
      say(`${name} is deleted`);
      if (current.media?.id === id) one("#result").hidden = true;
      await showFiles();
      one("#listed h2").focus();
    } catch (error) {
      showTrouble(one("#listed .trouble"), troubleOf(error));
    }
  };
  dialog.showModal();
}

const input = one("#file");
input.addEventListener("change", () => {
  choose([...input.files]);
  // So that the same file can be chosen again.
  input.value = "";
});
one("#cancel").addEventListener("click", () => run.abort());
for (const button of all("[data-sample]"))
  button.addEventListener("click", async () => {
    const name = button.dataset.sample;
    const response = await fetch(`/_sandbox/media/${name}`);
    const blob = await response.blob();
    choose([new File([blob], name, { type: blob.type })]);
  });

// A file that is dropped next to the zone would replace the page.
let depth = 0;
const zone = one("#zone");
const showDepth = (change) => {
  depth = Math.max(0, depth + change);
  zone.classList.toggle("over", depth > 0);
};
addEventListener("dragenter", (event) => {
  event.preventDefault();
  showDepth(1);
});
addEventListener("dragleave", () => showDepth(-1));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  showDepth(-depth);
  choose([...(event.dataTransfer?.files ?? [])]);
});

const tabs = all("[role=tab]");
const openTab = (tab) => {
  for (const other of tabs) {
    const isOpen = other === tab;
    other.setAttribute("aria-selected", String(isOpen));
    other.tabIndex = isOpen ? 0 : -1;
    one(`#${other.getAttribute("aria-controls")}`).hidden = !isOpen;
  }
};
for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => openTab(tab));
  tab.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    openTab(next);
    next.focus();
  });
}
one("#copy").addEventListener("click", async () => {
  const code = one("[role=tabpanel]:not([hidden]) pre");
  const button = one("#copy");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2000);
});

showCode();
void showFiles();
