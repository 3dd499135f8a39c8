/** The home of a checkout, `.edgecall` in the working folder, for a person who goes on with npm's package. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import { runningIn } from "@edgecall/node/running.ts";
import { copyState, noteVersion, refuseNewer, versionIn } from "@edgecall/node/written-by.ts";
import { makeStateFolder } from "./state-folder.ts";

/** It comes last: with it the folder is a home. */
const LAST = "tokens.json";

export type Offer = {
  /** The state folder of the package, in which no home is yet. */
  dir: string;
  /** The working folder, which may be anybody's: so a person is asked. */
  cwd: string;
  /** Undefined: no person is at the terminal. */
  confirm: ((question: string) => Promise<boolean>) | undefined;
  say(line: string): void;
};

/**
 * Offers to copy such a home to the package's place. The checkout's stays as it is.
 * @throws with words for a person when a gateway runs in it, or a newer edgecall wrote it
 */
export async function offerCheckoutHome({ dir, cwd, confirm, say }: Offer): Promise<void> {
  const from = join(cwd, ".edgecall");
  const version = versionIn(from);
  if (from === dir || existsSync(join(dir, LAST)) || !existsSync(join(from, LAST)) || version === undefined)
    return;
  if (!confirm) {
    say(
      `${from} has a home of edgecall ${version}, and this one is new: EDGECALL_DIR=${from} starts that one, and at a terminal you are asked`,
    );
    return;
  }
  if (!(await confirm(`${from} has a home of edgecall ${version}. Copy it to ${dir} and go on with it?`)))
    return;
  refuseNewer(from);
  const running = runningIn(from);
  if (running)
    throw new Error(`a gateway runs in ${from} (process ${running.pid}): stop it first. Nothing was copied`);
  copyInto(from, dir);
  say(
    `copied ${from} to ${dir}. The first one stays as it was: edgecall ${version} runs there, without what happens from now on`,
  );
}

function copyInto(from: string, dir: string): void {
  makeStateFolder(dirname(dir));
  const part = `${dir}.part`;
  try {
    copyState(from, part);
    moveAgent(join(part, "agent.toml"), from, dir);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const names = readdirSync(part).filter((name) => name !== LAST);
    for (const name of [...names, LAST]) {
      rmSync(join(dir, name), { recursive: true, force: true });
      renameSync(join(part, name), join(dir, name));
    }
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  // The checkout's own folder is the copy of before.
  noteVersion(dir);
}

/** Its file names the folder of its state. */
function moveAgent(file: string, from: string, dir: string): void {
  if (!existsSync(file)) return;
  const text = readFileSync(file, "utf8");
  writeAtomicSync(
    file,
    text.replaceAll(`"${from}/`, () => `"${dir}/`),
  );
}
