/**
 * One temporary folder for each run of the tests. `os.tmpdir()` names it in every worker and in every program that the
 * tests start. It is removed at the end of the run, also after a failure.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function setup(): void {
  // Short, because the path of a Unix socket has room for 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "ec-"));
  // With the mode of /tmp, since some tests start programs as other users.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  // The last moment, when no worker writes into it any more.
  process.once("exit", () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      console.warn(`${folder} was not removed: ${(error as Error).message}`);
    }
  });
}
