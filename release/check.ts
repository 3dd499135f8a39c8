/**
 * `node release/check.ts`: whether the name `edgecall` on npm is its owner's, and whether pages may say it. A stranger who takes a free name
 * gets the tokens of everybody who types `npx edgecall login`. release/owner.json names the npm account that has published it; null: none has.
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT } from "@edgecall/node/places.ts";

const NAME = "edgecall";
/** `npx --no` runs what is installed, and fetches nothing. */
const FETCHES = /\bnpx (--yes |-y )?edgecall\b|\bnpm (i|install|exec)( -g| --global)? edgecall\b/;
const PAGES = ["*.md", "docs/**/*.md", "examples/**/*.md", "bridge/home-assistant/*.md"];

const Owner = z.object({ npm: z.nullable(z.string()) });
/** Of `npm view`: `anna <anna@example.org>`, one or several. */
const Maintainers = z.union([z.string(), z.array(z.string())]);

/** @returns the account that has published the name; null: none has */
export function readOwner(): string | null {
  const read = checkJson(Owner, readFileSync(join(ROOT, "release/owner.json"), "utf8"));
  if (!read.ok) throw new Error(`release/owner.json: ${read.error}`);
  return read.value.npm;
}

/** @returns `page:line` of each line that fetches the name from npm */
export function linesThatFetch(root: string): string[] {
  return PAGES.flatMap((pages) => globSync(pages, { cwd: root })).flatMap((page) =>
    readFileSync(join(root, page), "utf8")
      .split("\n")
      .flatMap((line, at) => (FETCHES.test(line) ? [`${page}:${at + 1}`] : [])),
  );
}

/**
 * @param maintainers accounts that npm names; undefined: npm has no such package
 * @returns what is wrong, one sentence each
 */
export function findFaults(
  owner: string | null,
  maintainers: readonly string[] | undefined,
  lines: readonly string[],
): string[] {
  const theirs = maintainers?.join(", ");
  if (owner !== null) {
    if (maintainers === undefined) return [`release/owner.json names ${owner}, and npm has no '${NAME}'`];
    if (maintainers.includes(owner)) return [];
    return [`npm's '${NAME}' is by ${theirs}, not by ${owner}: no page may say its name`];
  }
  const taken = `npm has '${NAME}' by ${theirs}: if that is the owner, put the account into release/owner.json; if not, the product needs another name`;
  return [
    ...(maintainers === undefined ? [] : [taken]),
    ...lines.map((line) => `${line}: fetches '${NAME}' from npm, where its owner has not published it`),
  ];
}

/** @returns undefined when npm has no such package @throws when npm cannot be asked */
function readMaintainers(): string[] | undefined {
  try {
    const words = ["view", NAME, "maintainers", "--json"];
    const json = execFileSync("npm", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    const read = checkJson(Maintainers, json);
    if (!read.ok) throw new Error(`npm view ${NAME}: ${read.error}`);
    return [read.value].flat().map((one) => one.split(" ")[0] ?? one);
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    if (/E404/.test(`${stdout}${stderr}`)) return undefined;
    throw new Error(`npm could not be asked for '${NAME}': ${stderr || message}`);
  }
}

if (import.meta.main) {
  const owner = readOwner();
  const faults = findFaults(owner, readMaintainers(), linesThatFetch(ROOT));
  for (const fault of faults) console.error(fault);
  if (faults.length === 0)
    console.log(
      owner === null ? `npm has no '${NAME}', and no page fetches it` : `npm's '${NAME}' is by ${owner}`,
    );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
