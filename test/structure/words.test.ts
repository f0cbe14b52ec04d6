import { expect, test } from "vitest";
import { beyondLimits, findWords } from "../../tools/words.ts";

const linesOf = (text: string) => findWords("a.ts", text).map(({ line }) => line);

test.each([
  ["/** Of a message. */"], // words: quoted
  ["  // Absent: the user was never changed."], // words: quoted
  ["// It is read anew."], // words: quoted
  ["// Whatever is done twice is harmless."], // words: quoted
  ["The post goes out when it is due."], // words: quoted
  ["An e-mail says so."], // words: quoted
  ["Failed log-ins count."], // words: quoted
  ["Nothing needs to be done."], // words: quoted
  ["The text is cut behind a word."], // words: quoted
])("names the line of %s", (text) => {
  expect(linesOf(`const fine = 1;\n${text}\n`)).toEqual([2]);
});

test.each([
  ["/** Time limit of a message. */"],
  ["It recommends whatever is cheaper."],
  ["What is still left goes to the outbox."],
  ["Somebody logs in with an email."],
  ["They know `adresse e-mail` and `/log-in/`."],
  ["// The network says: save it anew. (words: quoted)"],
])("passes %s", (text) => {
  expect(linesOf(text)).toEqual([]);
});

test("lets a folder have as many as its limit, and names all when there is one more", () => {
  const found = ["kept/a.ts", "kept/b.ts", "free/c.ts"].map((file) => ({
    file,
    line: 1,
    found: "",
    better: "",
  }));
  const filesOf = (limit: number) => beyondLimits(found, { kept: limit }).map(({ file }) => file);
  expect(filesOf(2)).toEqual(["free/c.ts"]);
  expect(filesOf(1)).toEqual(["kept/a.ts", "kept/b.ts", "free/c.ts"]);
});
