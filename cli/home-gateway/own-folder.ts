/** The folder from which a gateway is installed: the unpacked archive that this program came in, or one that is made of npm's package. */
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A text that differs between versions of the folder. */
export const MARKS = ["edgecall.cjs", "gateway.mjs", "worker.js"];

/**
 * @param root the folder of the running program
 * @param work an empty folder, which is filled if need be
 * @throws when this program came without a gateway
 */
export async function gatewayFolder(root: string, work: string): Promise<string> {
  const missing = MARKS.filter((name) => !existsSync(join(root, name)));
  if (missing.length > 0)
    throw new Error(
      `${missing.join(", ")} not beside this program: run the edgecall.cjs of an unpacked edgecall-gateway, or the edgecall of npm's package`,
    );
  if (existsSync(join(root, "node_modules/miniflare"))) return root;
  // npm has packages beside this folder, and workerd's program somewhere above; an installed version has all in itself.
  await cp(root, work, { recursive: true });
  await cp(join(root, "../node_modules"), join(work, "node_modules"), { recursive: true });
  const name = `@cloudflare/workerd-linux-${process.arch === "x64" ? "64" : process.arch}`;
  const manifest = createRequire(join(root, "edgecall.cjs")).resolve(`${name}/package.json`);
  await cp(dirname(manifest), join(work, "node_modules", name), { recursive: true });
  return work;
}
