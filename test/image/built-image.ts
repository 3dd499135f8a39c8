/** The bridge's image, built and run without an engine: buildah over a base made by debootstrap, run by bubblewrap. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleBridge } from "../../local/bundles.ts";
import { AS_ROOT, asRoot, minimalDebian, ROOT_ENV } from "../debian.ts";

const DOCKERFILE = fileURLToPath(new URL("../../bridge/Dockerfile", import.meta.url));

/** The image's settings in `buildah inspect`, which Docker's engine uses. */
export type ImageConfig = {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Healthcheck?: { Test: string[] };
};

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

  /** Runs it like compose.yaml: as its user, without capabilities, with only /tmp and the bound folders writable. */
  start(
    args: readonly string[],
    env: Record<string, string>,
    writable: Record<string, string> = {},
  ): ChildProcess {
    const [uid = "", gid = ""] = this.#config.User.split(":");
    const files = readdirSync(this.#root).flatMap((name) => [
      "--ro-bind",
      join(this.#root, name),
      `/${name}`,
    ]);
    const own = this.#config.Env.map((line) => line.split("="));
    const [program = "", ...before] = [...AS_ROOT, "bwrap"];
    return spawn(
      program,
      [
        ...before,
        ...["--unshare-user", "--uid", uid, "--gid", gid, "--cap-drop", "ALL"],
        ...["--unshare-pid", "--die-with-parent", "--clearenv"],
        ...files,
        ...["--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"],
        ...Object.entries(writable).flatMap(([from, to]) => ["--bind", from, to]),
        ...["--remount-ro", "/"],
        ...[...own, ...Object.entries(env)].flatMap(([name = "", value = ""]) => ["--setenv", name, value]),
        ...this.#config.Entrypoint,
        ...args,
      ],
      { stdio: ["ignore", "pipe", "pipe"], env: ROOT_ENV },
    );
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
