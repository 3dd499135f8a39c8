/**
 * A machine of the trial: a Debian under systemd-nspawn with its own systemd, files and network. Commands are typed at
 * the machine itself (nsenter); everything else reaches it only over the network.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { enterCgroups } from "../install/cgroups.ts";
import { until } from "../wait.ts";
import type { Place } from "./wires.ts";

/** The exit code of systemd-nspawn when its machine wants to reboot (`--keep-unit`). */
const REBOOT = 133;
const BOOT_WITHIN_MS = 60_000;
/** The limit for a typed command; the slowest one waits for a roll-back. */
const TYPED_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 50;

export type Typed = { code: number; out: string };

export type MachineOptions = {
  name: string;
  place: Place;
  /** The names in its hosts file, with their addresses. */
  hosts: Readonly<Record<string, string>>;
  /** The folder of its Debian, which is only read. */
  debian: string;
  /** The machine's own folder. */
  dir: string;
  /** The parent cgroups of the machines. */
  cgroups: readonly string[];
  /** Files by their paths in the machine: a text, or a file or folder here that is mounted read-only. */
  files: Readonly<Record<string, { text: string } | { bind: string }>>;
  /** The units among these files that start with the machine. */
  services: readonly string[];
};

/** Gives the machine its address. networkd would wait for a udev, which no container has. */
const ADDRESS_UNIT = ({ address, router }: Place) => `[Unit]
Before=network.target
DefaultDependencies=no
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'ip address add ${address}/24 dev host0 && ip link set host0 up && ip route add default via ${router}'
[Install]
WantedBy=multi-user.target
`;

export class Machine {
  readonly name: string;
  readonly address: string;
  /** The file with the output of its boots and ends. */
  readonly log: string;
  readonly #options: MachineOptions;
  readonly #root: string;
  readonly #binds: string[];
  #boots = 0;
  #nspawn: ChildProcess | undefined;

  constructor(options: MachineOptions) {
    const { name, place, dir } = options;
    this.name = name;
    this.address = place.address;
    this.log = join(dir, "log");
    this.#options = options;
    this.#root = join(dir, "root");
    this.#binds = this.#furnish();
  }

  /** Pulls the plug; `start` plugs it in again. */
  async cutPower(): Promise<void> {
    const nspawn = this.#nspawn;
    const gone = new Promise((resolve) => nspawn?.once("exit", resolve));
    this.#kill();
    if (nspawn) await gone;
  }

  /** Switches it on. */
  start(): void {
    const { name, place, cgroups } = this.#options;
    this.#boots += 1;
    const own = cgroups.map((dir) => join(dir, `${name}-${this.#boots}`));
    const nspawn = spawn(
      "sh",
      [
        ...["-c", `${enterCgroups(own)}exec "$@"`, "sh"],
        ...["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe"],
        ...[`--machine=${name}`, `--directory=${this.#root}`, `--network-bridge=${place.net}`],
        ...this.#binds,
      ],
      {
        stdio: ["ignore", "pipe", "pipe"],
        // A whole /proc as on a real machine, because bubblewrap can only mount its own where one exists.
        env: { ...process.env, SYSTEMD_NSPAWN_API_VFS_WRITABLE: "yes" },
      },
    );
    const log = createWriteStream(this.log, { flags: "a" });
    nspawn.stdout.pipe(log);
    nspawn.stderr.pipe(log);
    nspawn.on("exit", (code) => {
      this.#nspawn = undefined;
      if (code === REBOOT) this.start();
    });
    this.#nspawn = nspawn;
  }

  /** Resolves when all units that start by themselves have started. */
  async booted(): Promise<void> {
    await until(() => this.#isUp(), {
      within: BOOT_WITHIN_MS,
      every: LOOK_EVERY_MS,
      what: `${this.name} has booted (${this.log})`,
    });
  }

  /** Pulls the plug and inserts an empty disk: a fresh Debian with the same address. */
  async replaceDisk(): Promise<void> {
    await this.cutPower();
    execFileSync("umount", [this.#root]);
    rmSync(join(this.#options.dir, "upper"), { recursive: true });
    this.#furnish();
  }

  /** A person's `sudo reboot`. Resolves when the machine is down; it comes up by itself. */
  async reboot(): Promise<void> {
    const before = this.#boots;
    await this.type("sudo systemctl reboot");
    await until(() => this.#boots > before, {
      within: BOOT_WITHIN_MS,
      every: LOOK_EVERY_MS,
      what: `${this.name} goes down`,
    });
  }

  /** Types a command line as the person `pi`, who may use sudo. Never throws because of the command's result. */
  type(command: string): Promise<Typed> {
    return this.#run(["runuser", "--login", "pi", "--command", command]);
  }

  /** Runs a command line as root, for the trial's own checks. */
  look(command: string): Promise<Typed> {
    return this.#run(["sh", "-c", command]);
  }

  /** The end of process 1 ends all other processes. */
  #kill(): void {
    const leader = this.#leader();
    if (leader !== undefined) process.kill(leader, "SIGKILL");
  }

  async #isUp(): Promise<boolean> {
    if (this.#leader() === undefined) return false;
    const { out } = await this.look("systemctl is-system-running");
    return /^(running|degraded)$/m.test(out);
  }

  #run(command: readonly string[]): Promise<Typed> {
    const leader = this.#leader();
    if (leader === undefined) return Promise.resolve({ code: -1, out: `${this.name} is down` });
    return new Promise((resolve) => {
      const child = spawn("nsenter", ["--target", String(leader), "--all", ...command], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8" },
        cwd: "/",
        timeout: TYPED_WITHIN_MS,
        killSignal: "SIGKILL",
      });
      let out = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          out += text;
        });
      child.on("error", (error) => resolve({ code: -1, out: String(error) }));
      child.on("close", (code) => resolve({ code: code ?? -1, out: out.trimEnd() }));
    });
  }

  /** Returns the pid of the machine's process 1 in this namespace. */
  #leader(): number | undefined {
    const pid = this.#nspawn?.pid;
    if (pid === undefined) return undefined;
    return childrenOf(pid).find((child) => commandOf(child) === "systemd");
  }

  #furnish(): string[] {
    const { name, place, hosts, debian, dir, files, services } = this.#options;
    const [upper, work] = [join(dir, "upper"), join(dir, "work")];
    for (const folder of [upper, work, this.#root]) mkdirSync(folder, { recursive: true });
    execFileSync("mount", [
      ...["-t", "overlay", `edgecall-${name}`],
      ...["-o", `lowerdir=${debian},upperdir=${upper},workdir=${work}`, this.#root],
    ]);
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(this.#root, path)), { recursive: true });
      writeFileSync(join(this.#root, path), text);
    };
    write("/etc/hostname", `${name}\n`);
    write("/etc/machine-id", `${randomUUID().replaceAll("-", "")}\n`);
    const known = Object.entries({ ...hosts, localhost: "127.0.0.1", [name]: "127.0.1.1" });
    write("/etc/hosts", known.map(([host, address]) => `${address} ${host}\n`).join(""));
    write("/etc/systemd/system/address.service", ADDRESS_UNIT(place));
    const binds = Object.entries(files).flatMap(([path, file]) => {
      if ("bind" in file) return [`--bind-ro=${file.bind}:${path}`];
      write(path, file.text);
      return [];
    });
    execFileSync("chroot", [this.#root, "systemctl", "enable", "--quiet", "address.service", ...services]);
    return binds;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
