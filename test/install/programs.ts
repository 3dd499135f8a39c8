/** Programs to install in test machines: `edgecall`, another one of the same version, and two that never come online. */
import { bundleCommand } from "../../local/bundles.ts";
import type { MachineFiles } from "./machine.ts";

export async function programs(): Promise<MachineFiles> {
  const bundle = await bundleCommand();
  const [shebang] = bundle.split("\n");
  /** Prints its version like a working program and then runs `rest`. */
  const says = (rest: string) =>
    `${shebang}\nif (process.argv[2] === "--version") console.log("edgecall 9.9.9"); else ${rest}\n`;
  return {
    "/test/edgecall.cjs": { text: bundle },
    "/test/newer.cjs": { text: `${bundle}\n// Other bytes.\n` },
    "/test/ends.cjs": { text: says("process.exit(3)") },
    "/test/hangs.cjs": { text: says("setInterval(() => {}, 1000)") },
  };
}
