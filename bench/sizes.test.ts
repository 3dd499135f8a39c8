import { expect, test } from "vitest";
import { WORKER_GZIP_KIB } from "./limits.ts";
import { workerSizes } from "./sizes.ts";

test("the whole Worker is within its size limit", async () => {
  const { gzipBytes } = await workerSizes();
  console.log(`the Worker: ${(gzipBytes / 1_024).toFixed(1)} KiB gzip, of ${WORKER_GZIP_KIB}`);
  expect(gzipBytes).toBeLessThanOrEqual(WORKER_GZIP_KIB * 1_024);
});
