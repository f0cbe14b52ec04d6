import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SETTINGS } from "../../src/shared/config/settings.ts";
import { EVENT_TYPES } from "../../src/shared/events/events.ts";
import { PREVIOUS, VECTOR } from "./vector.ts";

const RUN_MS_MAX = 60_000;
const page = readFileSync("docs/webhooks.md", "utf8");
const { secret, timestamp, body, v1 } = VECTOR;
const header = `t=${timestamp},v1=${v1}`;

/** What a snippet has to say of a delivery: body, header, secret, seconds since the vector's time, and its verdict. */
const CASES: readonly (readonly [string, string, string, number, boolean])[] = [
  [body, header, secret, 0, true],
  [body, header, secret, 299, true],
  [body, header, secret, -299, true],
  [body, `t=${timestamp},v1=${v1},v1=${PREVIOUS.v1}`, PREVIOUS.secret, 0, true],
  [body, `t=${timestamp},v1=${PREVIOUS.v1},v1=${v1}`, PREVIOUS.secret, 0, true],
  [body.replace("test", "tesu"), header, secret, 0, false],
  [body, header, PREVIOUS.secret, 0, false],
  [body, `t=${timestamp + 1},v1=${v1}`, secret, 0, false],
  [body, header, secret, 301, false],
  [body, header, secret, -301, false],
  [body, `t=${timestamp},v1=`, secret, 0, false],
  [body, `t=${timestamp},v0=${v1}`, secret, 0, false],
  [body, `v1=${v1}`, secret, 0, false],
  [body, `t=x,v1=${v1}`, secret, 0, false],
  [body, "", secret, 0, false],
  [body, `t=${timestamp},v1=é`, secret, 0, false],
  [body, `t=²,v1=${v1}`, secret, 0, false],
  [body, `t=${timestamp}é,v1=${v1}`, secret, 0, false],
  [body, `t=${"9".repeat(5_000)},v1=${v1}`, secret, 0, false],
];
const GIVEN = JSON.stringify(
  CASES.map(([text, head, key, later]) => [text, head, key, timestamp + later]),
);

/** The fenced blocks of a language, in their order. */
const snippets = (language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code = ""]) => code);

const isThere = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

interface Language {
  readonly name: string;
  readonly check: readonly [string, ...string[]];
  readonly files: (code: string) => Readonly<Record<string, string>>;
  readonly run: readonly [string, ...string[]];
}

const LANGUAGES: readonly Language[] = [
  {
    name: "ts",
    check: [process.execPath, "--version"],
    files: (code) => ({
      "verify.ts": code,
      "run.ts": `import { verifyWebhook } from "./verify.ts";
        const cases = JSON.parse(process.argv[2]);
        console.log(JSON.stringify(cases.map((one) => verifyWebhook(...one))));`,
    }),
    run: [process.execPath, "run.ts"],
  },
  {
    name: "python",
    check: ["python3", "--version"],
    files: (code) => ({
      "run.py": `${code}
import json, sys
# Servers give a header's bytes beyond ASCII as Latin-1, or as surrogates.
def verdict(b, head, *rest):
    forms = [head, head.encode().decode("ascii", "surrogateescape")]
    return [verify_webhook(b.encode(), form, *rest) for form in forms]
verdicts = [verdict(*one) for one in json.loads(sys.argv[1])]
print(json.dumps([one if one == other else "differs" for one, other in verdicts]))`,
    }),
    run: ["python3", "run.py"],
  },
  {
    name: "go",
    check: ["go", "version"],
    files: (code) => ({
      "go.mod": "module example\n\ngo 1.21\n",
      "verify.go": code.replace("package webhook", "package main"),
      "run.go": `package main
import ("encoding/json"; "fmt"; "os"; "time")
func main() {
	var cases [][]any
	json.Unmarshal([]byte(os.Args[1]), &cases)
	out := []bool{}
	for _, c := range cases {
		now := time.Unix(int64(c[3].(float64)), 0)
		out = append(out, Verify([]byte(c[0].(string)), c[1].(string), c[2].(string), now))
	}
	text, _ := json.Marshal(out)
	fmt.Println(string(text))
}`,
    }),
    run: ["go", "run", "."],
  },
  {
    name: "php",
    check: ["php", "--version"],
    files: (code) => ({
      "run.php": `<?php ${code}
echo json_encode(array_map(fn ($c) => verify_webhook(...$c), json_decode($argv[1], true)));`,
    }),
    run: ["php", "run.php"],
  },
  {
    name: "ruby",
    check: ["ruby", "--version"],
    files: (code) => ({
      "run.rb": `${code}
require "json"
puts JSON.generate(JSON.parse(ARGV[0]).map { |c| verify_webhook(*c) })`,
    }),
    run: ["ruby", "run.rb"],
  },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "webhook-snippets-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the page's code", () => {
  for (const { name, check, files, run } of LANGUAGES) {
    const [command, ...args] = check;
    test.skipIf(!isThere(command, ...args))(
      `the page's code in ${name} takes what is right and refuses the rest`,
      () => {
        const [code] = snippets(name);
        if (code === undefined) throw new Error(`the page has nothing in ${name}`);
        const at = mkdtempSync(join(folder, `${name}-`));
        for (const [file, text] of Object.entries(files(code))) writeFileSync(join(at, file), text);
        const [program, ...options] = run;
        const env = { ...process.env, GOCACHE: join(at, "cache"), GOTOOLCHAIN: "local" };
        const output = execFileSync(program, [...options, GIVEN], {
          cwd: at,
          env,
          timeout: RUN_MS_MAX,
        });
        expect(JSON.parse(output.toString())).toEqual(CASES.map(([, , , , verdict]) => verdict));
      },
      RUN_MS_MAX,
    );
  }

  test.skipIf(!isThere("openssl", "version"))("the page's shell code prints the signature", () => {
    const steps = snippets("sh").filter((code) => /^(?:secret|key)=/.test(code));
    expect(steps).toHaveLength(2);
    const output = execFileSync("sh", ["-euc", steps.join("")], { timeout: RUN_MS_MAX });
    expect(output.toString().trim()).toBe(v1);
  });

  test("the page has code for every language that the tests run", () => {
    for (const { name } of LANGUAGES) expect(snippets(name), name).toHaveLength(1);
  });
});

describe("the page", () => {
  test("the page prints the test delivery as it is", () => {
    const row = (name: string) =>
      new RegExp(`^\\| ${name}[^|]* \\| \`(.+?)\`.*\\|$`, "m").exec(page)?.[1];
    expect(row("secret")).toBe(secret);
    expect(row("time")).toBe(String(timestamp));
    expect(row("body")).toBe(body);
    expect(row("`X-Social-Restapi-Signature`")).toBe(header);
    expect(row("`webhook-signature`")).toBe(`v1,${VECTOR.standard}`);
  });

  test("the page names every event", () => {
    const row = /^\| `type` +\| (.*?) *\|$/m.exec(page)?.[1] ?? "";
    expect(row.split(", ")).toEqual(EVENT_TYPES.map((type) => `\`${type}\``));
  });

  test("the page states the real schedule", () => {
    expect(SETTINGS.WEBHOOK_RETRY_SECONDS.fallback).toBe(
      [5, 5 * 60, 30 * 60, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600)].join(),
    );
    expect(page).toContain("after 5 seconds, 5 minutes, 30 minutes, 2, 5, 10, 14, 20 and 24 hours");
    expect(SETTINGS.WEBHOOK_TIMEOUT_MS.fallback).toBe("10000");
  });
});
