/** The home of a checkout, `.edgecall` in the working folder, for a person who goes on with npm's package. */
import { existsSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import { claim, runningIn } from "@edgecall/node/running.ts";
import { copiedNames, copyState, noteVersion, refuseNewer, versionIn } from "@edgecall/node/written-by.ts";
import { makeStateFolder } from "./state-folder.ts";

/** It comes last: with it the folder is a home. */
const LAST = "tokens.json";
/** In the package's folder: a copy that is being made, and one that is whole and not yet in its place. */
const PART = "checkout.part";
const WHOLE = "checkout.copy";

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
 * Offers to copy such a home to the package's place. The checkout's stays as it is. A copy that was cut off is ended at the next start.
 * @throws with words for a person when a gateway runs in it, a newer edgecall wrote it, or something is in the copy's way
 */
export async function offerCheckoutHome({ dir, cwd, confirm, say }: Offer): Promise<void> {
  const from = join(cwd, ".edgecall");
  if (existsSync(join(dir, WHOLE))) {
    locked(dir, from, () => moveInto(dir));
    say(`the copy of a checkout's home to ${dir} was cut off, and is whole now`);
    return;
  }
  const version = versionIn(from);
  if (from === dir || versionIn(dir) !== undefined || !existsSync(join(from, LAST)) || version === undefined)
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
  makeStateFolder(dir);
  locked(dir, from, () => locked(from, dir, () => copyInto(from, dir)));
  say(
    `copied ${from} to ${dir}. The first one stays as it was: edgecall ${version} runs there, without what happens from now on`,
  );
}

/** Runs it while no gateway and no other copy can begin in the folder. @param other where the copy comes from, or goes */
function locked(dir: string, other: string, run: () => void): void {
  const claimed = claim(dir, `a copy of ${other}`);
  if (!claimed.ok)
    throw new Error(
      `process ${claimed.by.pid} uses ${dir} (${claimed.by.url}): wait until it has ended. Nothing was copied`,
    );
  try {
    run();
  } finally {
    claimed.release();
  }
}

function copyInto(from: string, dir: string): void {
  const inTheWay = copiedNames(from).find((name) => existsSync(join(dir, name)));
  if (inTheWay !== undefined)
    throw new Error(
      `${join(dir, inTheWay)} is there already: move it away, or start the home where it is with EDGECALL_DIR=${from}. Nothing was copied`,
    );
  const part = join(dir, PART);
  try {
    copyState(from, part);
    moveAgent(join(part, "agent.toml"), from, dir);
    renameSync(part, join(dir, WHOLE));
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  moveInto(dir);
}

/** The checkout's own folder is the copy of before. */
function moveInto(dir: string): void {
  const whole = join(dir, WHOLE);
  const names = readdirSync(whole).filter((name) => name !== LAST);
  for (const name of [...names, LAST])
    if (existsSync(join(whole, name))) renameSync(join(whole, name), join(dir, name));
  noteVersion(dir);
  rmdirSync(whole);
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
