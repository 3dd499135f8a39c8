/**
 * A small npm registry, as far as the installer needs it: the Node that package-lock.json pins, from npm's own
 * cache.
 */
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const LOCK = join(import.meta.dirname, "../../package-lock.json");
const PORT = 4873;

/**
 * @returns its address; undefined when npm's cache lacks the file, for example because it was emptied after the install
 */
export async function startRegistry(host: string): Promise<string | undefined> {
  const name = `node-linux-${process.arch}`;
  const { version, integrity } = JSON.parse(readFileSync(LOCK, "utf8")).packages[`node_modules/${name}`];
  const file = inCache(integrity);
  if (!existsSync(file)) return undefined;
  const server = createServer((request, response) => {
    if (request.url === `/${name}/-/${name}-${version}.tgz`) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(PORT, host, resolve));
  return `http://${host}:${PORT}`;
}

/** npm names a cached file by its hash. @param integrity `sha512-…` as in package-lock.json */
function inCache(integrity: string): string {
  const cache = execFileSync("npm", ["config", "get", "cache"], { stdio: ["ignore", "pipe", "ignore"] });
  const hex = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return join(
    cache.toString().trim(),
    "_cacache/content-v2/sha512",
    hex.slice(0, 2),
    hex.slice(2, 4),
    hex.slice(4),
  );
}
