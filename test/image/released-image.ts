/** An image as a release ships it: one archive for both processors. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT } from "@edgecall/node/places.ts";
import { buildImages } from "../../release/images.ts";
import type { ImageConfig } from "./start-image.ts";

const Digest = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));
const Layers = z.looseObject({
  config: z.looseObject({ digest: Digest }),
  layers: z.array(z.looseObject({ digest: Digest })),
});
const List = z.looseObject({
  manifests: z.array(
    z.looseObject({ digest: Digest, platform: z.looseObject({ architecture: z.string(), os: z.string() }) }),
  ),
});
const Image = z.looseObject({
  architecture: z.string(),
  config: z.looseObject({
    User: z.string(),
    Env: z.array(z.string()),
    Entrypoint: z.array(z.string()),
    Labels: z.record(z.string(), z.string()),
    Healthcheck: z.optional(z.looseObject({ Test: z.array(z.string()) })),
  }),
});

/** EM_X86_64 and EM_AARCH64 of elf(5). */
const MACHINES: Readonly<Record<number, string>> = { 62: "amd64", 183: "arm64" };
const HEADER_BYTES = 20;

/** @property machine of an executable or a library; undefined: another kind of file */
type ImageFile = { path: string; mode: number; uid: number; machine: string | undefined };
export type OneProcessor = {
  architecture: string;
  root: string;
  config: ImageConfig & { Labels: Record<string, string> };
  files: ImageFile[];
};

/** The folder of a release's files: RELEASE_OUT, where release/build.sh made them, or made now. */
export async function releasedImages(): Promise<string> {
  if (process.env.RELEASE_OUT) return process.env.RELEASE_OUT;
  execFileSync(process.execPath, [join(ROOT, "local/build.ts"), "--gateway"], { stdio: "ignore" });
  const out = mkdtempSync(join(tmpdir(), "edgecall-release-"));
  await buildImages(out);
  return out;
}

/** @returns the image for each processor, unpacked */
export function unpackImage(archive: string): OneProcessor[] {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-unpacked-"));
  execFileSync("tar", ["-C", dir, "-xf", archive]);
  const blob = (digest: string) => join(dir, digest.replace("sha256:", ""));
  return read(List, join(dir, "manifest.json")).manifests.map(({ digest, platform }) => {
    const { config, layers } = read(Layers, `${blob(digest)}.manifest.json`);
    const image = read(Image, blob(config.digest));
    if (image.architecture !== platform.architecture || platform.os !== "linux")
      throw new Error(`${archive}: ${platform.os}/${platform.architecture} has ${image.architecture}`);
    const root = join(dir, platform.architecture);
    mkdirSync(root);
    for (const layer of layers) execFileSync("tar", ["-C", root, "-xpf", blob(layer.digest)]);
    return { architecture: platform.architecture, root, config: image.config, files: filesOf(root) };
  });
}

function read<T>(schema: z.ZodMiniType<T>, file: string): T {
  const found = checkJson(schema, readFileSync(file, "utf8"));
  if (!found.ok) throw new Error(`${file}: ${found.error}`);
  return found.value;
}

function filesOf(root: string): ImageFile[] {
  return globSync("**", { cwd: root })
    .sort()
    .map((path) => {
      const { mode, uid } = lstatSync(join(root, path));
      return { path, mode, uid, machine: machineOf(join(root, path)) };
    });
}

function machineOf(path: string): string | undefined {
  if (!lstatSync(path).isFile()) return undefined;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (header.toString("latin1", 0, 4) !== "\x7fELF") return undefined;
  const machine = header.readUInt16LE(18);
  return MACHINES[machine] ?? `machine ${machine}`;
}
