#!/usr/bin/env bash
# Publishes a text and waits for the end: examples/publish.sh "Hello" bluesky mastodon
# Needs curl alone. RELAY_URL, RELAY_KEY and RELAY_PROFILE say where and as whom; without them it is the demo of npm start.
set -euo pipefail

if [ $# -lt 1 ]; then
  echo "usage: $0 TEXT [NETWORK…]" >&2
  exit 64
fi
text=$1
shift
[ $# -gt 0 ] || set -- bluesky mastodon

demo=${RELAY_DEMO:-.local/demo.json}
from_demo() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$demo"; }
url=${RELAY_URL:-$(from_demo baseUrl)}
key=${RELAY_KEY:-$(from_demo apiKey)}
profile=${RELAY_PROFILE:-$(from_demo profileId)}

# A text as a JSON string: backslashes, quotes and line ends are what JSON minds; other control characters go.
json_string() {
  printf '%s' "$1" | tr -d '\000-\010\013-\037' | tr '\t' ' ' |
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }'
}

# curl repeats what was throttled (it heeds Retry-After), refused by a busy server or cut off. That is safe because every
# repeat carries the same Idempotency-Key: the post is published once.
call() {
  curl -sS --retry 4 --retry-connrefused --max-time 30 \
    -H "Authorization: Bearer $key" -H "X-Profile-Id: $profile" \
    -H "Content-Type: application/json" -w '\n%{http_code}' "$@"
}

networks=$(printf '"%s",' "$@")
body="{\"text\":\"$(json_string "$text")\",\"platforms\":[${networks%,}]}"
idempotency_key="shell-$(date +%s)-$$"

answer=$(call "$url/v1/posts" -H "Idempotency-Key: $idempotency_key" -d "$body")
http_status=${answer##*$'\n'}
if [ "$http_status" != 202 ]; then
  echo "refused with $http_status: ${answer%$'\n'*}" >&2
  exit 1
fi
post=$(printf '%s' "$answer" | sed -n 's/^{"data":{"id":"\(pst_[0-9A-Z]*\)".*/\1/p')
echo "accepted as $post"

status=processing
for _ in $(seq 120); do
  answer=$(call "$url/v1/posts/$post")
  status=$(printf '%s' "$answer" | sed -n 's/^{"data":{"id":[^}]*"profileId":"[^"]*","status":"\([a-z]*\)".*/\1/p')
  [ "$status" = processing ] || break
  sleep 1
done

# Every leg begins with its platform, and its error, where it has one, with the code: one line for the leg, one for why.
printf '%s' "$answer" | awk -v RS='{' '
  function field(name) {
    if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
    return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
  }
  /^"platform":/ { print field("platform"), field("status") }
  is_error && /^"code":/ { print "  " field("code") ": " field("message") " " field("remediation") }
  { is_error = /"error":$/ }'
printf '%s' "$answer" | grep -o '"networkPostId":"[^"]*","url":"[^"]*"' | sed 's/.*"url":"\(.*\)"/\1/' || true
echo "$status"
[ "$status" = succeeded ]
