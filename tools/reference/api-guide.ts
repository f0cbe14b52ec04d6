export interface GuideSection {
  readonly title: string;
  /** Paragraphs and lists in Markdown. The only inline mark is `code`. */
  readonly text: string;
}

/** Rules that hold for every route, in the order in which readers need them. */
export const API_GUIDE: readonly GuideSection[] = [
  {
    title: "Authentication",
    text: `Every request except the public ones needs \`Authorization: Bearer …\` with one of three credentials.

- An **API key** (\`sk_live_…\`) for your backend. It belongs to one application and can't be moved. An \`app_admin\` key acts for every profile of the application, a \`restricted\` key for those on its allowlist and for the one named by a profile grant (\`X-Profile-Grant\`). In lists, a restricted key sees itself and what is about the profiles on its allowlist. Such a page may be short or empty and still have a \`nextCursor\`.
- A **session** for the platform's staff, from \`POST /v1/auth/login\`, valid for 12 hours. It selects the application with \`X-Application-Id\`.
- An **operator's access token**, from the operators' identity provider, only for \`/v1/admin\` and for crediting tokens.

A platform is a customer of this service. Only the fields \`platforms\`, \`platform\` and \`platformOptions\` mean something else: social networks.

Routes for one profile expect its id in \`X-Profile-Id\` or in the path. A resource of another application or platform returns the same 404 as one that doesn't exist.`,
  },
  {
    title: "Requests and responses",
    text: `Bodies are JSON in UTF-8, 256 KiB at most. Unknown fields of a body and unknown query parameters are refused, such as the \`_\` that jQuery adds with \`cache: false\`; the error lists all problems of a request. In a POST, null means the same as leaving out an optional field. In a PATCH, it clears a field that can be cleared and is refused for others. Send bodies uncompressed, with \`Content-Length\`. A header that has one value (\`Authorization\`, \`Content-Type\`, \`Idempotency-Key\`, \`X-Profile-Id\`, \`X-Application-Id\`, \`X-Profile-Grant\`), a query parameter or a field of a body that occurs twice is refused with 400, even if the values are equal. In URLs, surrounding white space is removed, and accents, spaces in a path and international host names are encoded. What a browser would silently repair (a line break, a backslash, a missing slash, an IPv4 address in octal) is refused. Times need \`Z\` or an offset in requests and are in UTC in responses.

A success is \`{"data": …}\`. An error is \`{"error": {"code", "message", "details", "requestId", "docUrl"}}\`; base your program on \`code\`, because messages may change. \`docUrl\` links to the code on this page; leg errors and findings have one, too. Within \`/v1\`, changes are only additive: new fields, routes and enum values (a new status, type, code or reason). Ignore what you don't know.

You can generate a client from this document. It must accept unknown fields and enum values in responses. The checks made by openapi-zod-client and Hey API's Zod plug-in refuse unknown enum values, so use their types, and check only requests. For openapi-generator, set \`enumUnknownDefaultCase=true\`.

Every response has an \`X-Request-Id\`: your own if you sent one of 8 to 64 letters, digits, dots, dashes and underscores, otherwise a new one. Unknown paths get 404 \`not_found\`; known paths with another method get 405 \`method_not_allowed\` with \`Allow\`. HEAD works wherever GET does, with the same status and headers and without the body.`,
  },
  {
    title: "Idempotency",
    text: `\`POST /v1/posts\` requires an \`Idempotency-Key\` of 8 to 128 visible ASCII characters without a comma. Use a new one for every new post. The same key with the same request returns the original post as it is now, with the first call's status and \`Idempotent-Replayed: true\`. Nothing is published or charged twice, so you can safely repeat a call whose response was lost. The same key with another request gets 409 \`idempotency_conflict\`. A refused request doesn't use up its key. Keys belong to the platform and are stored as long as their post, until its profile is erased.`,
  },
  {
    title: "Pagination",
    text: `Lists are newest first. \`limit\` is 1 to 100 (default 25). \`page.hasMore\` says whether there are more items, and \`page.nextCursor\` is the \`cursor\` of the next page. A cursor is opaque and belongs to its query: if it is changed or used with other filters, it gets 400 \`invalid_cursor\`.`,
  },
  {
    title: "Rate limits",
    text: `Keys, sessions and operators are each limited per minute; \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds) say how much is left. By default, a key has 300 requests per minute, and all keys of a platform share 3,000. A request counts for both, and the headers describe the limit with less left. Beyond either, the response is 429 \`rate_limited\` with \`Retry-After\` in seconds; wait that long. Logging in and up is limited by address and by email; making users and changing passwords by platform and by person.

After 60 wrong credentials within a minute, an address gets 429 without further credentials being checked. Valid credentials from the same address still work: always if they were accepted recently, otherwise once a minute.`,
  },
  {
    title: "Receiving events",
    text: `An endpoint that you register with \`POST /v1/webhooks\` gets a POST for every event of its application. The body is an \`Event\`, whose \`type\` says what happened. Respond with 2xx within 10 seconds and do the work afterwards. Everything else is retried over three days. Events can arrive twice or out of order: their \`id\` stays the same, and \`sequence\` increases with each event of a post.

Verify the signature before you trust a body. Deliveries are signed according to Standard Webhooks, in \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`, so its libraries can verify them with the unchanged secret. Without a library, verify the second form, \`X-Social-Restapi-Signature: t=<seconds>,v1=<hex>\`: the HMAC-SHA256 of \`<t>.<body>\` over the bytes as received, with the key that follows \`whsec_\` in the secret, decoded from base64. While a secret is being rotated, there are two signatures, one of which must match. Compare in constant time, and refuse a time that is more than 5 minutes off.`,
  },
  {
    title: "Tokens",
    text: `A post reserves 10 tokens per leg when it is accepted; a leg that was published is settled, which deducts its tokens from the balance; one that failed is released. Storing a scheduled post costs 2, validating 1, and linking a new account 5: \`GET /v1/rate-card\` has the full list. If the balance is too low, the response is 402 \`insufficient_tokens\`, and nothing is created.`,
  },
];
