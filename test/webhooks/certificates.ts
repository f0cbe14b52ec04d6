import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for the names, signed by itself; `days` below zero: it ended that long ago. */
export function makeCertificate(names: string, days = 2): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const openssl = (line: string) =>
    execFileSync("openssl", line.split(" "), { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  try {
    openssl("ecparam -name prime256v1 -genkey -noout -out key.pem");
    const about = `-key key.pem -subj /CN=receiver -addext subjectAltName=DNS:${names}`;
    // `req` makes none that is over, and `x509` leaves the names out: it is refused for its end before they matter.
    if (days > 0) openssl(`req -x509 ${about} -days ${days} -out cert.pem`);
    else {
      openssl(`req -new ${about} -out request.pem`);
      openssl(`x509 -req -in request.pem -signkey key.pem -days ${days} -out cert.pem`);
    }
    return { key: read("key.pem"), cert: read("cert.pem") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
