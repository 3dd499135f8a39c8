/** Certificates for tests: an own authority and certificates that it signs, made by openssl. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export type Authority = { cert: string; key: string };

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** @returns paths of PEM files in `dir` */
export function newAuthority(dir: string, name: string): Authority {
  const made = { cert: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) };
  openssl(["req", "-x509", ...NEW_KEY, "-keyout", made.key, "-out", made.cert, "-subj", `/CN=${name}`]);
  return made;
}

/** A server's certificate for one address, such as `IP:127.0.0.1`. @returns paths of PEM files in `dir` */
export function signedBy(authority: Authority, dir: string, address: string): Authority {
  const made = { cert: join(dir, "server.pem"), key: join(dir, "server.key") };
  openssl([
    ...["req", "-x509", ...NEW_KEY, "-keyout", made.key, "-out", made.cert, "-subj", "/CN=broker"],
    ...["-CA", authority.cert, "-CAkey", authority.key, "-addext", `subjectAltName=${address}`],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
  ]);
  return made;
}

function openssl(args: string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
