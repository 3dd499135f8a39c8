/**
 * `node played-updates.ts DIR`: a fake gateway for updates. It serves DIR/program as the version in DIR/version. It writes
 * DIR/gateway.json, as pairing would, and DIR/url, which the bridge dials. On SIGUSR1 it tells the bridge to update itself,
 * and writes the bridge's outcome to DIR/updated.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PlayedHome } from "../../bridge/testkit/home.ts";
import { programBytes } from "../../core/protocol/program.ts";
import { importPrivateKey, newKeyPair, withSignature } from "../../core/protocol/signing.ts";
import { until } from "../wait.ts";

const [dir = "."] = process.argv.slice(2);
const at = (name: string) => join(dir, name);
const { publicKey, privateKey } = await newKeyPair();
const key = await importPrivateKey(privateKey);

async function manifest(nonce: string): Promise<string> {
  const program = readFileSync(at("program"));
  const sha256 = createHash("sha256").update(program).digest("hex");
  const version = readFileSync(at("version"), "utf8").trim();
  const body = JSON.stringify({ version, sha256, bytes: program.length, nonce });
  return withSignature(body, new Uint8Array(await crypto.subtle.sign("Ed25519", key, programBytes(body))));
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://gateway");
  if (url.pathname === "/edgecall.cjs") response.end(readFileSync(at("program")));
  else void manifest(url.searchParams.get("nonce") ?? "").then((text) => response.end(text));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const home = new PlayedHome();
writeFileSync(at("url"), await home.start());
process.on("SIGUSR1", async () => {
  const id = randomUUID();
  home.send({ t: "update", id });
  const within = 120_000;
  const { ok, text } = await until(() => home.of("updated").find((frame) => frame.id === id), {
    within,
    what: id,
  });
  writeFileSync(at("updated"), `${ok} ${text}\n`);
});
writeFileSync(at("gateway.json"), JSON.stringify({ url, home: "h1", public_key: publicKey }));
