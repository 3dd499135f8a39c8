/** The bridge's image, built and run without an engine: buildah over a base made by debootstrap, run by bubblewrap. */
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleBridge } from "../../local/bundles.ts";
import { asRoot, minimalDebian } from "../debian.ts";
import { type ImageConfig, startImage } from "./start-image.ts";

const DOCKERFILE = fileURLToPath(new URL("../../bridge/Dockerfile", import.meta.url));

export class BuiltImage {
  /** Contains all files of buildah, so that one `rm` removes everything. */
  readonly #dir = mkdtempSync(join(tmpdir(), "edgecall-image-"));
  #container = "";
  #root = "";
  #config: ImageConfig = { User: "", Env: [], Entrypoint: [] };

  static async build(): Promise<BuiltImage> {
    const image = new BuiltImage();
    await image.#build();
    return image;
  }

  get config(): ImageConfig {
    return this.#config;
  }

  /** The image's files, mounted. */
  get root(): string {
    return this.#root;
  }

  async #build(): Promise<void> {
    const base = await this.#buildah("from", "scratch");
    await this.#buildah("add", "--quiet", base, await minimalDebian(), "/");
    // The project's Node, at the place that Debian's own images use.
    await this.#buildah("copy", "--quiet", base, process.execPath, "/usr/local/bin/node");
    await this.#buildah("commit", "--quiet", "--rm", base, "edgecall-base");
    const context = join(this.#dir, "context");
    mkdirSync(join(context, "dist"), { recursive: true });
    writeFileSync(join(context, "dist/bridge.mjs"), await bundleBridge());
    await this.#buildah(
      ...["bud", "--quiet", "--format", "docker", "--isolation", "chroot"],
      ...["--build-arg", "BASE=localhost/edgecall-base", "-f", DOCKERFILE, "-t", "edgecall-bridge", context],
    );
    this.#container = await this.#buildah("from", "localhost/edgecall-bridge");
    this.#root = await this.#buildah("mount", this.#container);
    const inspected = JSON.parse(await this.#buildah("inspect", this.#container)) as {
      Docker: { config: ImageConfig };
    };
    this.#config = inspected.Docker.config;
  }

  /** Returns the bytes of all files. */
  async size(): Promise<number> {
    return Number((await asRoot("du", "-sb", this.#root)).split("\t")[0]);
  }

  /** Runs a command in the image by buildah itself, as the image's user; the network is this machine's. */
  async run(
    command: readonly string[],
    env: Record<string, string>,
  ): Promise<{ code: number; stdout: string }> {
    const given = Object.entries(env).map(([name, value]) => `--env=${name}=${value}`);
    try {
      const stdout = await this.#buildah(
        "run",
        "--isolation",
        "chroot",
        ...given,
        this.#container,
        "--",
        ...command,
      );
      return { code: 0, stdout };
    } catch (error) {
      const { code, stdout } = error as { code: number; stdout: string };
      return { code, stdout };
    }
  }

  start(
    args: readonly string[],
    env: Record<string, string>,
    writable: Record<string, string> = {},
  ): ChildProcess {
    return startImage({ root: this.#root, config: this.#config, args, env, writable });
  }

  async remove(): Promise<void> {
    await this.#buildah("umount", this.#container);
    await asRoot("rm", "-rf", this.#dir);
  }

  async #buildah(...args: string[]): Promise<string> {
    const stores = ["--root", join(this.#dir, "storage"), "--runroot", join(this.#dir, "run")];
    return (await asRoot("buildah", ...stores, "--storage-driver", "vfs", ...args)).trim();
  }
}
