/**
 * Loaded into the agent before its own code (`node --import`). It records for each file how many bytes are safe from a
 * power cut: the size at the last sync. Each sync is one line of JSON in EDGECALL_TEST_SYNCED.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const report = process.env.EDGECALL_TEST_SYNCED;
if (!report) throw new Error("EDGECALL_TEST_SYNCED: missing; right would be: a file's path");

const probe = await fs.promises.open(process.execPath, "r");
const prototype = Object.getPrototypeOf(probe) as fs.promises.FileHandle;
await probe.close();

for (const name of ["datasync", "sync"] as const) {
  const real = prototype[name];
  prototype[name] = async function (this: fs.promises.FileHandle) {
    // Read before the sync, because bytes that are written meanwhile may not reach the disk.
    const { ino, size } = await this.stat();
    await real.call(this);
    fs.appendFileSync(report, `${JSON.stringify({ ino, size })}\n`);
  };
}
// The bridge syncs with the synchronous call.
const syncAtOnce = fs.fsyncSync;
fs.fsyncSync = (fd) => {
  const { ino, size } = fs.fstatSync(fd);
  syncAtOnce(fd);
  fs.appendFileSync(report, `${JSON.stringify({ ino, size })}\n`);
};
syncBuiltinESMExports();
