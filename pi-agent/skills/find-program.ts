import { realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { isBelow } from "../env/local-exec.ts";
import type { ToolDefinition } from "./skill-file.ts";
import type { Stamps } from "./stamps.ts";

export type Place = {
  /** The skill's folder; absolute. */
  folder: string;
  /** The only folders that may contain skill programs: the skills' folder, and `[tools.paths] bin`. */
  roots: readonly string[];
  /** `[tools.paths] bin` */
  bin: string | undefined;
};

export type Found = { program: string } | { reason: string };

/** Finds a tool's program: the one that it names, or `dt-NAME` in `[tools.paths] bin` or in the skill's own bin. */
export async function findProgram(tool: ToolDefinition, place: Place, stamps: Stamps): Promise<Found> {
  const { folder, bin } = place;
  const named = tool.binary === undefined ? undefined : resolve(folder, tool.binary);
  if (tool.binary !== undefined && !isAbsolute(tool.binary) && !isBelow(folder, named ?? "")) {
    return { reason: `binary: '${tool.binary}' leads out of the skill's folder` };
  }
  const usual = `dt-${tool.name}`;
  const places = [
    ...(named === undefined ? [] : [named]),
    ...(bin === undefined ? [] : [join(bin, usual)]),
    ...(named === undefined ? [join(folder, "bin", usual)] : []),
  ];
  for (const program of places) {
    const stats = await stamps.look(program);
    if (!stats?.isFile()) continue;
    if ((stats.mode & 0o111n) === 0n) return { reason: `${program} may not be run: chmod +x ${program}` };
    if (writableByAll(stats.mode))
      return { reason: `${program} is writable by everyone: chmod o-w ${program}` };
    // A program with an absolute path belongs to the system; the person who installed the skill chose it.
    if (tool.binary !== undefined && isAbsolute(tool.binary) && program === named) return { program };
    if (await leadsOut(program, place.roots))
      return { reason: `${program} is a link that leads out of the skills` };
    return { program };
  }
  return { reason: `no program: looked for ${places.join(", ")}` };
}

/** True if everybody may write the file, so that its content cannot be trusted. */
export function writableByAll(mode: bigint): boolean {
  return (mode & 0o002n) !== 0n;
}

async function leadsOut(program: string, roots: readonly string[]): Promise<boolean> {
  try {
    const [real, ...tops] = await Promise.all([program, ...roots].map((path) => realpath(path)));
    return !tops.some((top) => isBelow(top, real ?? ""));
  } catch {
    return true;
  }
}
