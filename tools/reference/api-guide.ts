export interface GuideSection {
  readonly title: string;
  /** Paragraphs and lists in Markdown. The only inline mark is `code`. */
  readonly text: string;
}

/** Rules that hold for every route, in the order in which readers need them. */
export const API_GUIDE: readonly GuideSection[] = [
  {
    title: "Authentication",
    text: `Every call but the public ones carries \`Authorization: Bearer …\` with one of three credentials.

- An **API key** (\`sk_live_…\`) for product backends. It is bound to one application, which it can't leave. An \`app_admin\` key acts for every profile of it, a \`restricted\` key for those on its allowlist and for the one that a profile grant names (\`X-Profile-Grant\`). In lists a restricted key sees itself, and what is about the profiles of its allowlist; such a page may be short, or empty, and have a \`nextCursor\`.
- A **session** for the platform's staff, from \`POST /v1/auth/login\`, valid for 12 hours. It selects the application with \`X-Application-Id\`.
- An **operator's access token**, from the operators' identity provider, for \`/v1/admin\` and for crediting tokens, and for nothing else.

A platform is a customer of this service. Only the fields \`platforms\`, \`platform\` and \`platformOptions\` mean something else: social networks.

Routes for one profile expect its id in \`X-Profile-Id\` or in the path. What belongs to another application or platform is answered with the same 404 as what never existed.`,
  },
  {
    title: "Requests and answers",
    text: `Bodies are JSON in UTF-8, 256 KiB at most. Unknown fields of a body and unknown query parameters are refused, such as the \`_\` that jQuery adds with \`cache: false\`; every problem of a request is named at once. In a POST null is as good as absent, for every field that may be absent; in a PATCH it clears what can be cleared and is refused elsewhere. A body is sent uncompressed, with its \`Content-Length\`. A header that has one value (\`Authorization\`, \`Content-Type\`, \`Idempotency-Key\`, \`X-Profile-Id\`, \`X-Application-Id\`, \`X-Profile-Grant\`), a query parameter or a field of a body that comes twice is refused with 400, whether the values are equal or not. Addresses are read as they are written: white space around them is cut, accents, spaces in a path and international host names are encoded, and what a browser would silently repair (a line break, a backslash, a missing slash, an IPv4 address in octal) is refused. Times need \`Z\` or an offset in requests and are UTC in answers.

A success is \`{"data": …}\`. An error is \`{"error": {"code", "message", "details", "requestId", "docUrl"}}\`; build on \`code\`, for messages may change. \`docUrl\` leads to the code's paragraph on this page; errors of legs and findings have one too. Within \`/v1\` only fields, routes and words are added: a new status, type, code or reason in a list of this document's words. Ignore what you do not know.

A client can be generated from this document. Its checks of answers must let unknown fields and words pass. Those that openapi-zod-client and Hey API's plug-in for Zod make refuse unknown words, so use their types, and check only what you send; for openapi-generator set \`enumUnknownDefaultCase=true\`.

Every answer carries \`X-Request-Id\`: your own when you sent one of 8 to 64 letters, digits, dots, dashes and underscores, else a new one. Unknown paths get 404 \`not_found\`, known paths with another method 405 \`method_not_allowed\` with \`Allow\`. What can be read by GET can be asked for by HEAD: the same status and headers, without the body.`,
  },
  {
    title: "Idempotency",
    text: `\`POST /v1/posts\` requires an \`Idempotency-Key\` of 8 to 128 visible ASCII characters without a comma, new for every new post. The same key with the same request answers the original post as it is now, with the first call's status and \`Idempotent-Replayed: true\`: nothing is published or charged twice, so repeat a call whose answer was lost. The same key with another request gets 409 \`idempotency_conflict\`. A refused request does not use its key up. Keys belong to the platform and are kept as long as their post, which is until its profile is erased.`,
  },
  {
    title: "Pagination",
    text: `Lists are newest first. \`limit\` is 1 to 100 (25 when absent). \`page.hasMore\` says whether there is more, \`page.nextCursor\` is the \`cursor\` of the next page. A cursor is opaque and belongs to its query: with other filters, or changed, it gets 400 \`invalid_cursor\`.`,
  },
  {
    title: "Rate limits",
    text: `Keys, sessions and operators are each limited per minute; \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds) say how much is left. A key has 300 requests per minute unless the operators chose otherwise, and all keys of a platform share 3,000: a request counts for both, and the headers describe the one with less left. Beyond either the answer is 429 \`rate_limited\` with \`Retry-After\` in seconds, which clients must wait. Logging in and up is limited by address and by email; making users and changing passwords by platform and by person.

After 60 wrong credentials within a minute an address gets 429 for further ones, before they are looked at. Good ones behind the same address go on: one that was right lately always, one that is new to us once a minute.`,
  },
  {
    title: "Receiving events",
    text: `An endpoint of yours, registered with \`POST /v1/webhooks\`, gets a POST for every event of its application: the body is an \`Event\`, its \`type\` says what happened. Answer 2xx within 10 seconds and work afterwards; anything else is tried again over three days. Events can come twice or out of order: their \`id\` stays the same, and \`sequence\` grows per post.

Verify the signature before you believe a body. Deliveries are signed as Standard Webhooks says, in \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`, so that its libraries verify them with the secret as it is. Without a library, verify the second form, \`X-Social-Restapi-Signature: t=<seconds>,v1=<hex>\`: the HMAC-SHA256 of \`<t>.<body>\` over the bytes as they came, with the key that is behind \`whsec_\` in the secret, decoded from base64. While a secret is being rotated there are two signatures, of which one must fit. Compare in constant time, and refuse a time more than 5 minutes off.`,
  },
  {
    title: "Tokens",
    text: `A post reserves 10 tokens per leg when it is accepted; a leg that was published is settled, which takes its tokens from the balance; one that failed is released. Storing a scheduled post costs 2, validating 1, linking a new account 5: \`GET /v1/rate-card\` has the list. When the wallet is short the answer is 402 \`insufficient_tokens\`, and nothing was written.`,
  },
];
