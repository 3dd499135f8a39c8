/**
 * `node release/images.ts FOLDER`: the containers of bridge and home gateway for amd64 and arm64, each as one archive that a registry takes
 * (release/publish.sh). Nothing of the other processor is run: Node and workerd come from npm as package-lock.json pins them, the libraries
 * from Debian's packages, and an image's own settings from its Dockerfile. Needs root, buildah, apt and dpkg; first `npm run build -- --gateway`.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { ROOT } from "@edgecall/node/places.ts";
import { nodeFor, packageFolder } from "../local/locked-package.ts";

const ARCHITECTURES = { amd64: "x64", arm64: "arm64" } as const;
type Debian = keyof typeof ARCHITECTURES;

/** Home Assistant's app has the bridge in an image of its own, since it starts as root. */
export const APP_IMAGE = "edgecall-bridge-app";

/**
 * @property dockerfile one, or with what is put behind it
 * @property folders that the image's user may write
 * @property authorities workerd reads them; Node has its own
 * @property copied puts what is the image's own into its context
 */
type Image = {
  name: string;
  dockerfile: readonly string[];
  folders: readonly string[];
  authorities: boolean;
  labels(architecture: Debian): Record<string, string>;
  copied(context: string, architecture: Debian): void;
};

const copyBridge = (context: string) =>
  cpSync(join(ROOT, "dist/bridge.mjs"), join(context, "dist/bridge.mjs"));

const IMAGES: readonly Image[] = [
  {
    name: "edgecall-bridge",
    dockerfile: ["bridge/Dockerfile"],
    folders: ["broker", "state"],
    authorities: false,
    labels: () => ({}),
    copied: copyBridge,
  },
  {
    name: APP_IMAGE,
    dockerfile: ["bridge/Dockerfile", "bridge/home-assistant/Dockerfile.end"],
    folders: ["broker", "state"],
    authorities: false,
    labels: (architecture: Debian) => ({
      "io.hass.type": "app",
      "io.hass.version": VERSION,
      "io.hass.arch": architecture === "arm64" ? "aarch64" : architecture,
    }),
    copied: copyBridge,
  },
  {
    name: "edgecall-gateway",
    dockerfile: ["local/home-gateway/Dockerfile"],
    folders: ["state"],
    authorities: true,
    labels: () => ({}),
    copied(context: string, architecture: Debian) {
      const archive = join(ROOT, `dist/edgecall-gateway-linux-${ARCHITECTURES[architecture]}.tar.gz`);
      mkdirSync(join(context, "dist"));
      execFileSync("tar", ["-C", join(context, "dist"), "-xzf", archive]);
    },
  },
];
const USER = "10001";

/** Writes NAME-VERSION-image.tar.gz for each image. */
export async function buildImages(out: string): Promise<string[]> {
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "edgecall-images-"));
  const stores = ["--root", join(work, "storage"), "--runroot", join(work, "run"), "--storage-driver", "vfs"];
  const buildah = (...words: string[]) =>
    execFileSync("buildah", [...stores, ...words], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const files: string[] = [];
    for (const image of IMAGES) {
      const { name, dockerfile } = image;
      const [list, folder] = [`localhost/${name}:${VERSION}`, join(work, name)];
      buildah("manifest", "create", list);
      for (const architecture of Object.keys(ARCHITECTURES) as Debian[]) {
        const context = mkdtempSync(join(work, "context-"));
        await writeBase(context, architecture, image, work);
        image.copied(context, architecture);
        const text = dockerfile.map((file) => readFileSync(join(ROOT, file), "utf8")).join("");
        writeFileSync(join(context, "Dockerfile"), finalStage(text, name, image.labels(architecture)));
        const tag = `localhost/${name}:${architecture}`;
        // Docker's form, since the other one has no health check.
        const words = ["--quiet", "--format", "docker", "--isolation", "chroot", "--os", "linux"];
        buildah("bud", ...words, "--arch", architecture, "-t", tag, context);
        buildah("manifest", "add", list, `containers-storage:${tag}`);
        rmSync(context, { recursive: true });
      }
      buildah("manifest", "push", "--all", "--format", "v2s2", list, `dir:${folder}`);
      const file = join(out, `${name}-${VERSION}-image.tar.gz`);
      execFileSync("tar", ["-C", folder, "--owner=0", "--group=0", "--numeric-owner", "-czf", file, "."]);
      files.push(file);
    }
    return files;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The result of the Dockerfile's first stage, as base.tar: a context's own files would all belong to root. */
async function writeBase(
  context: string,
  architecture: Debian,
  { folders, authorities }: Image,
  work: string,
): Promise<void> {
  const base = join(context, "base");
  for (const path of ["usr/local/bin", "etc", "tmp"]) mkdirSync(join(base, path), { recursive: true });
  execFileSync(join(ROOT, "release/libraries.sh"), [architecture, base], { stdio: "inherit" });
  const node = join(await packageFolder(nodeFor(ARCHITECTURES[architecture]), work), "bin/node");
  cpSync(node, join(base, "usr/local/bin/node"));
  chmodSync(join(base, "usr/local/bin/node"), 0o755);
  writeFileSync(join(base, "etc/passwd"), `edgecall:x:${USER}:${USER}::/:/nologin\n`);
  writeFileSync(join(base, "etc/nsswitch.conf"), "hosts: files dns\n");
  chmodSync(join(base, "tmp"), 0o1777);
  if (authorities) {
    mkdirSync(join(base, "etc/ssl/certs"), { recursive: true });
    writeFileSync(join(base, "etc/ssl/certs/ca-certificates.crt"), `${rootCertificates.join("\n")}\n`);
  }
  const tar = (owner: string, words: string[]) =>
    execFileSync("tar", ["-C", base, `--owner=${owner}`, `--group=${owner}`, "--numeric-owner", ...words]);
  const file = join(context, "base.tar");
  tar("0", ["-cf", file, "."]);
  for (const name of folders) mkdirSync(join(base, name), { mode: 0o700 });
  tar(USER, ["-rf", file, ...folders.map((name) => `./${name}`)]);
  rmSync(base, { recursive: true });
}

/** The image itself, from the files that this program makes in place of the stage before. */
function finalStage(dockerfile: string, name: string, more: Record<string, string>): string {
  const [, final, ...others] = dockerfile.split(/^FROM scratch$/m);
  const copy = "COPY --from=node /image/ /";
  if (final === undefined || others.length > 0 || !final.includes(copy))
    throw new Error(`the Dockerfile of ${name}: expected one stage 'FROM scratch' with '${copy}'`);
  const general = { title: name, version: VERSION, licenses: "MIT" };
  const labels = Object.entries(general).map(([key, value]) => [`org.opencontainers.image.${key}`, value]);
  const lines = [...labels, ...Object.entries(more)].map(([key, value]) => `${key}="${value}"`);
  return `FROM scratch${final.replace(copy, "ADD base.tar /")}LABEL ${lines.join(" ")}\n`;
}

if (import.meta.main) {
  const [out] = process.argv.slice(2);
  if (out === undefined) throw new Error("usage: node release/images.ts FOLDER");
  for (const file of await buildImages(out)) console.log(file);
}
