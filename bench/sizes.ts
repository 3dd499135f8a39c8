/** The size of the Worker's upload. */
import { gzipSync } from "node:zlib";
import { bundleWorker } from "../local/bundles.ts";

export type Sizes = { rawBytes: number; minifiedBytes: number; gzipBytes: number };

/** Returns bytes: as bundled, minified, and that in gzip (which Cloudflare's limit counts). */
export async function workerSizes(): Promise<Sizes> {
  const program = `${"0".repeat(64)} 700000` as const;
  const [raw, minified] = await Promise.all([
    bundleWorker({ program }),
    bundleWorker({ minify: true, program }),
  ]);
  return {
    rawBytes: Buffer.byteLength(raw),
    minifiedBytes: Buffer.byteLength(minified),
    gzipBytes: gzipSync(minified, { level: 9 }).length,
  };
}
