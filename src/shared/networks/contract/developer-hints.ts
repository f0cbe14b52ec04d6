import { URL_LENGTH_MAX } from "../../runtime/http-call.ts";
import { REDIRECTS_MAX } from "./redirects.ts";

/*
 * What the caller of the API can do about a finding, in English. What the person who posts can do is in `../words`. By the id
 * of a rule, by what follows the network in it, or by the code. `{platform}` is the network's name in requests; other
 * names are values of the finding. A hint without a value for each isn't shown, except in paths.
 */

const OWN_TEXT = "`platformOptions.{platform}.text` sets a separate text for {platform}.";
const OWN_FILES = "`platformOptions.{platform}.mediaUrls` sets separate files for {platform}.";
const NO_KIND = "Leave out `platformOptions.{platform}.kind`, or set it to `feed`.";
const PUBLIC = "The URL has to be public and work without a login.";
const UNCODED = "Send the file without Content-Encoding.";
const LINK_AGAIN =
  "Open a connect session for the profile, so that the account can be linked again.";

export const DEVELOPER_HINTS: Readonly<Record<string, string>> = {
  connection_missing: "Open a connect session for the profile, so that an account can be linked.",
  connection_needs_reauth: `${LINK_AGAIN} Then retry the leg.`,
  permission_missing: LINK_AGAIN,
  account_restricted: `${LINK_AGAIN} Then retry the leg.`,
  quota_exceeded:
    "The `quota` of the connection and of a validation says when posts are allowed again.",
  text_too_long: OWN_TEXT,
  text_invalid: OWN_TEXT,
  media_unreachable: PUBLIC,
  app_misconfigured: "The operator of the relay has to check the settings of {platform}.",
  outcome_unknown: "A retry first checks whether the post is on the network.",
  profile_disabled: "Enable the profile: PATCH it with `status` `active`.",
  "network.notConfigured": "The operator of the relay has not configured an app for {platform}.",
  "file.unusable":
    "Announce a new file with `POST /v1/media`. Its `url` can be used once `complete` has answered with `status` `ready`, until `keptUntil`.",
  "file.waiting": "After the PUT, call `POST /v1/media/{mediaId}/complete`.",
  "file.expires":
    "Upload the file again. It can be used for posts due within 365 days after POST /v1/media.",
  "upload.length":
    "The PUT has to send exactly the `bytes` of POST /v1/media. Start with a new file.",
  "upload.type":
    "POST /v1/media takes the type that the bytes have as `contentType`. Start with a new file.",
  "firstComment.permission": `${LINK_AGAIN} The connection's \`missingScopes\` lists what is missing.`,
  "firstComment.unavailable":
    "The operator of the relay does not ask {platform} for the permission to comment. Leave out `platformOptions.{platform}.firstComment`.",
  "firstComment.story": "Leave out `platformOptions.{platform}.firstComment`.",
  "text.nearLimit": OWN_TEXT,
  "text.duplicate": "The same text is allowed again 48 hours after it was published.",
  "content.empty": "Set `text` or `mediaUrls`.",
  "facebook.content.empty": "Set `text`, `mediaUrls` or `platformOptions.facebook.link`.",
  "media.required": "Set `mediaUrls`, or leave {platform} out of `platforms`.",
  "media.count": OWN_FILES,
  "media.mixed": OWN_FILES,
  "reel.media": NO_KIND,
  "story.media": NO_KIND,
  "story.text": "The other networks still publish the text.",
  "video.kind":
    "To publish a video in the feed without this warning, set `platformOptions.{platform}.kind` to `feed`.",
  "video.ratio": NO_KIND,
  "video.resolution": NO_KIND,
  "video.duration": NO_KIND,
  "video.frameRate": NO_KIND,
  "title.unused": "Leave out `platformOptions.{platform}.title`.",
  "documentTitle.unused": "Leave out `platformOptions.{platform}.documentTitle`.",
  "document.title": "Set `platformOptions.{platform}.documentTitle`.",
  "collaborators.unused": "Leave out `platformOptions.{platform}.collaborators`.",
  "collaborators.invalid":
    "Each name in `platformOptions.{platform}.collaborators` has to be an account that may be invited.",
  "coverUrl.unused": "Leave out `platformOptions.{platform}.coverUrl`.",
  "thumbOffsetMs.unused": "Leave out `platformOptions.{platform}.thumbOffsetMs`.",
  "thumbOffsetMs.cover":
    "Set `platformOptions.{platform}.coverUrl` or `platformOptions.{platform}.thumbOffsetMs`, not both.",
  "shareToFeed.unused": "Leave out `platformOptions.{platform}.shareToFeed`.",
  "media.thumbOffset": "Use a smaller `platformOptions.{platform}.thumbOffsetMs`.",
  "link.own": "Leave out `platformOptions.{platform}.link`.",
  "link.media": "Leave out `platformOptions.{platform}.link` or the files.",
  "linkCard.media": "Leave out `platformOptions.{platform}.linkCard` or the files.",
  "linkCard.unread":
    "Describe the card with `platformOptions.{platform}.linkCard`, or set it to `false`.",
  "linkCard.picture":
    "Set the card's picture with `platformOptions.{platform}.linkCard.thumbnailUrl`.",
  "visibility.direct": "Use another `platformOptions.{platform}.visibility`.",
  "visibility.unsupported": "Use another `platformOptions.{platform}.visibility`.",
  "visibility.organization": "Leave out `platformOptions.{platform}.visibility`.",
  "focus.count": "`platformOptions.{platform}.focus` can't have more entries than there are files.",
  "media.address":
    "The URL of a picture that has to be converted can have at most 5,000 characters.",
  "media.webPage": "Use the URL of the file itself, without a viewer, a login or a captcha.",
  "media.addressHost":
    "The URL doesn't lead to a public address: its host name has to exist and be public.",
  "media.addressLength": `The URL, or one that it redirects to, is longer than ${URL_LENGTH_MAX} characters.`,
  "media.addressScheme": "The URL redirects to an address that is not https.",
  "media.addressCredentials": "The URL redirects to an address with a user name or a password.",
  "media.addressPort":
    "The URL's port isn't allowed. Use 443, or a port from 1024 upwards that browsers don't block.",
  "media.connectFailed": "The server of the file can't be reached from the internet.",
  "media.tlsFailed": "The server of the file has no valid certificate.",
  "media.timeout": "The server of the file did not answer in time.",
  "media.slow": "The server sends the file too slowly.",
  "media.connectionLost": "The server closed the connection during the download.",
  "media.headersTooLarge": "The server of the file sends too many headers.",
  "media.tooLarge": "The server sends more bytes than are allowed.",
  "media.undecodable": `The file is not compressed as its Content-Encoding header says. ${UNCODED}`,
  "media.coding": `The file is sent with the unknown Content-Encoding "{value}". ${UNCODED}`,
  "media.tooManyRedirects": `The URL redirects more than ${REDIRECTS_MAX} times. Use the URL that the redirects lead to.`,
  "media.redirectedNowhere":
    "The URL redirects without a valid Location header. Use the URL of the file itself.",
  "media.statusForbidden": `The server answers with HTTP {value}. ${PUBLIC}`,
  "media.statusMissing": "The server answers with HTTP {value}: it has no file at this URL.",
  "media.statusThrottled":
    "The server answers with HTTP {value}: it limits how often files are downloaded. Retry later, or use a server without this limit.",
  "media.statusServer": "The server answers with HTTP {value}, which is an error on that server.",
  "media.status": "The server answers with HTTP {value} instead of the file.",
  "media.range":
    "The server returned a different byte range than requested. It has to support range requests correctly, or not at all.",
  "media.sizeUnknown":
    "The server doesn't send the file's size, and the file is larger than {value} MiB. It has to send Content-Length or support range requests.",
  "media.empty": "The file is empty.",
  "media.changed": "The file changed while it was read.",
  "media.busy": "Retry in a few minutes.",
  "media.unchecked": "Validate with fewer files, or use faster servers.",
};
