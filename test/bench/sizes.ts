/** How large the Worker is when it is uploaded. */
import { gzipSync } from "node:zlib";
import { bundleWorker } from "../../local/bundles.ts";

export type Sizes = { rawBytes: number; minifiedBytes: number; gzipBytes: number };

/** Bytes: as bundled, minified, and that in gzip (which is what Cloudflare's limit counts). */
export async function workerSizes(): Promise<Sizes> {
  const [raw, minified] = await Promise.all([bundleWorker(), bundleWorker({ minify: true })]);
  return {
    rawBytes: Buffer.byteLength(raw),
    minifiedBytes: Buffer.byteLength(minified),
    gzipBytes: gzipSync(minified, { level: 9 }).length,
  };
}
