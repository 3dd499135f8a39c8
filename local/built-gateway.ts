/** The Worker and the files that it serves as a folder, built once and read at each start. */
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";

const WORKER = "worker.js";
/** The program of devices. It lies beside the index, where the machine's own `edgecall` is the same file. */
export const PROGRAM = "edgecall.cjs";
/** The index of the served files: path → type and the name of its file. */
const FILES_INDEX = "files.json";
const Index = z.record(z.string(), z.object({ type: z.string(), file: z.string() }));

type Body = string | Uint8Array;
export type ServedFile = { type: string; body(): Body | Promise<Body> };
export type BuiltGateway = { bundle: string; files: ReadonlyMap<string, ServedFile> };

export async function writeBuiltGateway(folder: string, { bundle, files }: BuiltGateway): Promise<void> {
  await mkdir(join(folder, "files"), { recursive: true });
  const index: z.infer<typeof Index> = {};
  for (const [path, { type, body }] of files) {
    const file = path === `/${PROGRAM}` ? PROGRAM : `files/${Object.keys(index).length}`;
    index[path] = { type, file };
    await writeFile(join(folder, file), await body());
  }
  await writeFile(join(folder, FILES_INDEX), JSON.stringify(index));
  await writeFile(join(folder, WORKER), bundle);
}

/** @throws Error that names the file when the folder is not complete */
export function readBuiltGateway(folder: string): BuiltGateway {
  const index = checkJson(Index, readFileSync(join(folder, FILES_INDEX), "utf8"));
  if (!index.ok) throw new Error(`${join(folder, FILES_INDEX)}: ${index.error}`);
  const files = Object.entries(index.value).map(([path, { type, file }]): [string, ServedFile] => [
    path,
    { type, body: () => readFile(join(folder, file)) },
  ]);
  return { bundle: readFileSync(join(folder, WORKER), "utf8"), files: new Map(files) };
}
