#!/usr/bin/env python3
"""Checks a post, publishes it and waits for the end.

    examples/publish.py "Hello" --to bluesky mastodon --image https://… --alt "What it shows"
    examples/publish.py "Good morning" --to bluesky --at 2030-01-31T09:00:00+01:00

Needs Python 3.9 and nothing else. RELAY_URL, RELAY_KEY and RELAY_PROFILE say where and as whom; without them it is the
demo of npm start.
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

ATTEMPTS = 5
WAIT_SECONDS = 120


class Refused(Exception):
    """An answer of the relay that repeating does not change."""

    def __init__(self, status, error):
        request = f" ({error['requestId']})" if "requestId" in error else ""
        super().__init__(f"{status} {error['code']}: {error['message']}{request}")
        self.code = error["code"]
        self.details = error["details"]


class Relay:
    def __init__(self, url, key, profile):
        self.url = url
        self.headers = {
            "Authorization": f"Bearer {key}",
            "X-Profile-Id": profile,
            "Content-Type": "application/json",
        }

    def call(self, method, path, body=None, **headers):
        """Repeats what may be repeated: a lost answer, a busy server, a limit. For a POST that needs a key."""
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(1, ATTEMPTS + 1):
            request = urllib.request.Request(
                self.url + path, data, {**self.headers, **headers}, method=method
            )
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)["data"]
            except urllib.error.HTTPError as refusal:
                error = json.load(refusal)["error"]
                is_passing = refusal.code == 429 or refusal.code >= 500
                if not is_passing or attempt == ATTEMPTS:
                    raise Refused(refusal.code, error) from None
                wait = int(refusal.headers.get("Retry-After") or attempt)
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                if attempt == ATTEMPTS:
                    raise
                wait = attempt
            time.sleep(wait)

    def publish(self, post, key):
        """The same key publishes once, however often this is called."""
        return self.call("POST", "/v1/posts", post, **{"Idempotency-Key": key})

    def wait(self, post_id):
        """A webhook is better where there is a server to receive it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            post = self.call("GET", f"/v1/posts/{post_id}")
            if post["status"] != "processing" or time.monotonic() > deadline:
                return post
            time.sleep(1)


def connect():
    demo = {}
    path = os.environ.get("RELAY_DEMO", ".local/demo.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            demo = json.load(file)
    try:
        return Relay(
            os.environ.get("RELAY_URL") or demo["baseUrl"],
            os.environ.get("RELAY_KEY") or demo["apiKey"],
            os.environ.get("RELAY_PROFILE") or demo["profileId"],
        )
    except KeyError:
        sys.exit("Set RELAY_URL, RELAY_KEY and RELAY_PROFILE, or run npm start.")


def read_arguments():
    parser = argparse.ArgumentParser(description="Publishes a post.")
    parser.add_argument("text")
    parser.add_argument("--to", nargs="+", default=["bluesky", "mastodon"], metavar="NETWORK")
    parser.add_argument("--image", action="append", default=[], metavar="URL")
    parser.add_argument("--alt", action="append", default=[], metavar="TEXT")
    parser.add_argument("--at", metavar="TIME", help="with Z or an offset; now when left out")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    relay = connect()
    post = {"text": arguments.text, "platforms": arguments.to, "mediaUrls": arguments.image}
    if arguments.alt:
        post["altTexts"] = arguments.alt
    if arguments.at:
        post["scheduleAt"] = arguments.at

    checked = relay.call("POST", "/v1/posts/validate", post)
    for network, verdict in checked["platforms"].items():
        for finding in verdict["errors"] + verdict["warnings"]:
            print(f"{network}: {finding['message']} {finding['remediation']}")
    if not any(verdict["valid"] for verdict in checked["platforms"].values()):
        return 1

    # Kept with the post in a real program, so that a crash here repeats the request and not the post.
    accepted = relay.publish(post, str(uuid.uuid4()))
    print(f"{accepted['id']} is {accepted['status']}")
    if accepted["status"] == "scheduled":
        return 0

    done = relay.wait(accepted["id"])
    for leg in done["legs"]:
        error = leg["error"]
        why = f"{error['message']} {error['remediation']}" if error else ""
        print(f"{leg['platform']}: {leg['status']} {leg['url'] or why}")
    print(f"{done['status']}, {done['tokens']['charged']} tokens")
    return 0 if done["status"] == "succeeded" else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(str(refused))
    except (urllib.error.URLError, TimeoutError, ConnectionError) as problem:
        sys.exit(f"The relay can't be reached: {problem}")
