/**
 * Loaded into the agent before its own code (`node --import`): notes for each file how much of it is safe from a power
 * cut, which is what it had when it was last synced. One line of JSON for each sync in EDGECALL_TEST_SYNCED.
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
    // Before: what is written while the disk works may or may not be on it.
    const { ino, size } = await this.stat();
    await real.call(this);
    fs.appendFileSync(report, `${JSON.stringify({ ino, size })}\n`);
  };
}
// The bridge writes at once.
const syncAtOnce = fs.fsyncSync;
fs.fsyncSync = (fd) => {
  const { ino, size } = fs.fstatSync(fd);
  syncAtOnce(fd);
  fs.appendFileSync(report, `${JSON.stringify({ ino, size })}\n`);
};
syncBuiltinESMExports();
