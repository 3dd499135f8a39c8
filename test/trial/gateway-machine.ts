/** The gateway's machine: the Worker as `npm run worker` runs it, and a proxy in place of Cloudflare's edge. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TOKENS, testVars } from "../tokens.ts";
import type { MachineOptions } from "./machine.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The file with the version of all programs. */
const NAMES = "core/protocol/names.ts";
const VERSION = /^(export const VERSION = )"([^"]+)"/m;

const GATEWAY_UNIT = `[Service]
WorkingDirectory=/repo
EnvironmentFile=/etc/gateway.env
ExecStart=/opt/node/bin/node local/worker.ts
Restart=always
[Install]
WantedBy=multi-user.target
`;
/** The Worker itself listens only on loopback. */
const FRONT_SOCKET = `[Socket]
ListenStream=80
[Install]
WantedBy=sockets.target
`;
const FRONT_UNIT = `[Unit]
Requires=gateway.service
After=gateway.service
[Service]
ExecStart=/lib/systemd/systemd-socket-proxyd 127.0.0.1:8787
`;

/** @param repo see `checkout` */
export function gatewayMachine(repo: string, modelUrl: string): Pick<MachineOptions, "files" | "services"> {
  const settings = {
    API_TOKENS: testVars.API_TOKENS,
    BRIDGE_TOKENS: testVars.BRIDGE_TOKENS,
    LLM_BASE_URL: modelUrl,
    LLM_MODEL: "scripted",
    EDGECALL_DIR: "/var/lib/gateway",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`);
  return {
    services: ["gateway.service", "front.socket"],
    files: {
      "/opt/node/bin/node": { bind: process.execPath },
      "/repo": { bind: repo },
      "/etc/gateway.env": { text: lines.join("") },
      "/etc/systemd/system/gateway.service": { text: GATEWAY_UNIT },
      "/etc/systemd/system/front.socket": { text: FRONT_SOCKET },
      "/etc/systemd/system/front.service": { text: FRONT_UNIT },
    },
  };
}

export const OWNER = TOKENS.owner;

/** Makes a copy of the project's folder that can be changed. @returns its path */
export function checkout(dir: string): string {
  const [upper, work, repo] = [join(dir, "changed"), join(dir, "work"), join(dir, "repo")];
  for (const folder of [upper, work, repo]) mkdirSync(folder, { recursive: true });
  execFileSync("mount", [
    ...["-t", "overlay", "edgecall-repo"],
    ...["-o", `lowerdir=${ROOT},upperdir=${upper},workdir=${work}`, repo],
  ]);
  return repo;
}

/** Returns the version of a checkout's programs. */
export function versionOf(repo: string): string {
  return VERSION.exec(readFileSync(join(repo, NAMES), "utf8"))?.[2] ?? "";
}

/** Does what a developer does before a release: sets a version and makes other changes. */
export function change(
  repo: string,
  version: string,
  edits: Readonly<Record<string, (text: string) => string>> = {},
) {
  const all = { ...edits, [NAMES]: (text: string) => text.replace(VERSION, `$1"${version}"`) };
  for (const [path, edit] of Object.entries(all)) {
    const file = join(repo, path);
    const before = readFileSync(join(ROOT, path), "utf8");
    const after = edit(before);
    if (after === before) throw new Error(`${path}: the trial's change changed nothing`);
    writeFileSync(file, after);
  }
}
