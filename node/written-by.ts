/**
 * Which edgecall wrote a state folder. Before a newer one writes there, a copy is put beside the folder: rows only go forward, so an
 * older edgecall needs what it wrote itself. A patch changes no rows.
 */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { writeAtomicSync } from "./atomic-write.ts";

/** @property version of the edgecall that wrote it */
export type StateCopy = { version: string; folder: string };

const VERSION_FILE = "version";
const READABLE = /^(\d{1,4})\.(\d{1,4})\.\d{1,6}(-[\w.]{1,32})?$/;
/** The end of the name that a newer version's folder gets on the way back. */
const NEWER = "-newer";
/** The folder of the copies within a container's own, which keeps nothing beside it. */
const COPIES = "copies";
/** The lock belongs to a process, the demo is a home of its own, and a volume may have a `lost+found`. */
const NOT_COPIED = /^(running\.json.*|demo|copies|lost\+found)$/;
/** Of a folder within it everything is copied. */
const NONE = /^$/;
/** A disk that is full to the last byte stops everything else on it. */
const LEFT_FREE_BYTES = 64 * 2 ** 20;

/** @returns undefined when no edgecall has written anything there */
export function versionIn(dir: string): string | undefined {
  const isOwn = existsSync(join(dir, "tokens.json"));
  if (!isOwn && !existsSync(join(dir, "worker"))) return undefined;
  const file = join(dir, VERSION_FILE);
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (READABLE.test(text)) return text;
  // 0.2 and 0.3 noted no version. Since 0.3 the bridge beside an agent keeps state.
  return existsSync(join(dir, "agent")) && !existsSync(join(dir, "bridge")) ? "0.2.0" : "0.3.0";
}

/** True if an older minor version wrote the folder, which has to be copied before this one writes there. */
export function isOlder(dir: string): boolean {
  const version = versionIn(dir);
  return version !== undefined && compareMinor(version, VERSION) < 0;
}

/** @throws with both versions and what to do when a newer minor version wrote the folder */
export function refuseNewer(dir: string): void {
  const version = versionIn(dir);
  if (version === undefined || compareMinor(version, VERSION) <= 0) return;
  const copy = copiesOf(dir).findLast((one) => compareMinor(one.version, VERSION) <= 0);
  const back = copy ? `, or go back to what edgecall ${copy.version} wrote: ${wayBack(dir, copy)}` : "";
  throw new Error(
    `${dir} was written by edgecall ${version}, and this is edgecall ${VERSION}, which does not know what is new there. ` +
      `Nothing was changed. Install edgecall ${version} or later${back}`,
  );
}

/**
 * What each gateway does before it writes in a folder that it has claimed: the copy, unless UPGRADE_COPY is "no", and the note.
 * @param options.within true: the copy goes into the folder
 */
export function upgradeState(
  dir: string,
  options: { copies: boolean; within?: boolean; say(line: string): void },
): void {
  const copy = options.copies ? copyBeforeUpgrade(dir, options) : undefined;
  if (copy) options.say(describeCopy(dir, copy));
  noteVersion(dir);
}

/**
 * Copies the folder beside itself if an older minor version wrote it. Nothing may run there.
 * @param options.within true: into the folder, which is all that a container keeps
 * @param options.free bytes of the disk; another number in tests
 * @returns undefined when there is nothing to keep
 * @throws with words for a person when there is no room or no right; nothing is left behind then
 */
export function copyBeforeUpgrade(
  dir: string,
  { within = false, free = freeBytes(within ? dir : dirname(dir)) } = {},
): StateCopy | undefined {
  const version = versionIn(dir);
  if (version === undefined || !isOlder(dir)) return undefined;
  const of = `${version}-${new Date().toISOString().slice(0, 10)}`;
  const folder = freeName(within ? join(dir, COPIES, of) : `${dir}-${of}`);
  const why = `edgecall ${VERSION} first copies the state of ${version} to ${folder}`;
  const instead = `Nothing was changed. Copy ${dir} yourself, and start once with UPGRADE_COPY=no`;
  const needed = sizeOf(dir) + LEFT_FREE_BYTES;
  if (free < needed)
    throw new Error(`${why}, which takes ${mb(needed)} MB, and ${mb(free)} MB are free. ${instead}`);
  // Half a copy never has the name of one.
  const part = `${folder}.part`;
  try {
    if (within) mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    copyState(dir, part);
    renameSync(part, folder);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw new Error(`${why}, which failed (${failureOf(error)}). ${instead}`);
  }
  return { version, folder };
}

/** The names in a state folder that are the home's own. */
export function copiedNames(dir: string): string[] {
  return readdirSync(dir).filter((name) => !NOT_COPIED.test(name));
}

/** Copies all that is the home's own. Owners, modes and times stay. @param to made anew */
export function copyState(dir: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { mode: 0o700 });
  const { uid, gid } = statSync(dir);
  if (process.getuid?.() === 0) chownSync(to, uid, gid);
  const entries = copiedNames(dir);
  const paths = entries.map((name) => join(dir, name));
  try {
    execFileSync("cp", ["-a", ...paths, to], { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // Our image has no programs, and one owner.
    const how = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
    for (const name of entries) cpSync(join(dir, name), join(to, name), how);
  }
}

/** Notes that this version writes there from now on. */
export function noteVersion(dir: string): void {
  writeAtomicSync(join(dir, VERSION_FILE), `${VERSION}\n`);
}

/** The lines for a person about a copy that was made. */
export function describeCopy(dir: string, copy: StateCopy): string {
  return (
    `${dir} was edgecall ${copy.version}'s and becomes ${VERSION}'s. As it was, it is in ${copy.folder}\n` +
    `The way back: stop edgecall, and ${wayBack(dir, copy)}; what happened in the meantime is lost.`
  );
}

/** @returns the folders beside it with a home's data: the copies of upgrades, and what a way back moved aside */
export function besideState(dir: string): string[] {
  const parent = dirname(dir);
  const moved = `${basename(dir)}${NEWER}`;
  const names = existsSync(parent) ? readdirSync(parent) : [];
  const aside = names.filter((name) => name.startsWith(moved) && /^(-\d+)?$/.test(name.slice(moved.length)));
  const copies = copiesOf(dir).map(({ folder }) => folder);
  return [
    ...copies.filter((folder) => dirname(folder) === parent),
    ...aside.map((name) => join(parent, name)),
  ];
}

/** A copy beside the folder takes its place, since files in it may name their own place. */
function wayBack(dir: string, { version, folder }: StateCopy): string {
  if (dirname(folder) === join(dir, COPIES))
    return `start edgecall ${version} with STATE_DIRECTORY=${folder}`;
  const [place, newer, older] = [dir, freeName(`${dir}${NEWER}`), folder].map(quoted);
  return `\`mv ${place} ${newer} && mv ${older} ${place}\`, then start edgecall ${version}`;
}

/** @returns the path, or the first of `PATH-2`, `PATH-3`, … that is not there */
function freeName(path: string): string {
  let name = path;
  for (let n = 2; existsSync(name); n += 1) name = `${path}-${n}`;
  return name;
}

/** For a shell. */
export function quoted(path: string): string {
  return /^[\w./~+@:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The copies within the folder and beside it, of each the oldest version first. */
function copiesOf(dir: string): StateCopy[] {
  return [join(dir, `${COPIES}/`), `${dir}-`].flatMap((before) => {
    const place = before.endsWith("/") ? before : dirname(before);
    if (!existsSync(place)) return [];
    const begin = before.endsWith("/") ? "" : basename(before);
    return readdirSync(place)
      .filter((name) => name.startsWith(begin))
      .sort(new Intl.Collator("en", { numeric: true }).compare)
      .flatMap((name) => {
        const version = /^(.+)-\d{4}-\d\d-\d\d(-\d+)?$/.exec(name.slice(begin.length))?.[1] ?? "";
        return READABLE.test(version) ? [{ version, folder: join(place, name) }] : [];
      });
  });
}

/** @returns below 0 when `a` is of an older minor version */
function compareMinor(a: string, b: string): number {
  const [first, second] = [a, b].map((text) => READABLE.exec(text));
  if (!first || !second) return 0;
  return Number(first[1]) - Number(second[1]) || Number(first[2]) - Number(second[2]);
}

/** Links count as links, as `cp -a` copies them: an agent's workspace may have one to the whole disk. */
function sizeOf(dir: string, skipped = NOT_COPIED): number {
  return readdirSync(dir, { withFileTypes: true })
    .filter(({ name }) => !skipped.test(name))
    .reduce((sum, entry) => {
      const path = join(dir, entry.name);
      const own = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
      return sum + own + (entry.isDirectory() ? sizeOf(path, NONE) : 0);
    }, 0);
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

function mb(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}

/** @returns what `cp` said, without the lines after its first */
function failureOf(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr ?? "") : "";
  const text = said.trim() || (error instanceof Error ? error.message : String(error));
  return text.split("\n")[0] ?? "";
}
