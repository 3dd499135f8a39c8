/** Programs of other versions as files: kept releases (README.md), and programs with a changed version number. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { bundleAgent, bundleBridge } from "../../local/bundles.ts";
import type { GatewayOptions } from "../../local/gateway.ts";

/** Those whose bridges and agents the gateway accepts, the newest first. */
export const KEPT_VERSIONS = ["0.4.0"] as const;
/** 0.3.0's are only for what happens in a home before its upgrade. */
export type KeptVersion = (typeof KEPT_VERSIONS)[number] | "0.3.0";

const BUNDLES = {
  bridge: { file: "bridge.mjs", ofToday: bundleBridge },
  agent: { file: "pi-agent.cjs", ofToday: () => bundleAgent({ testTools: true }) },
} as const;

type ProgramName = keyof typeof BUNDLES;

export type Programs = {
  /** @returns the path of the released program; with `calledItself`, under another version number */
  kept(name: ProgramName, version: KeptVersion, calledItself?: string): string;
  /** @returns the path of the present program under another version number */
  ofToday(name: ProgramName, calledItself: string): Promise<string>;
  /** Remove it at the end. */
  folder: string;
};

export function openPrograms(): Programs {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-versions-"));
  const write = (name: ProgramName, code: string, from: string, to: string): string => {
    const dir = join(folder, `${name}-${from}-${to}`);
    mkdirSync(dir, { recursive: true });
    const path = join(dir, BUNDLES[name].file);
    writeFileSync(path, from === to ? code : renumbered(code, from, to));
    return path;
  };
  return {
    folder,
    kept(name, version, calledItself = version) {
      return write(name, unpacked(version, BUNDLES[name].file), version, calledItself);
    },
    async ofToday(name, calledItself) {
      return write(name, await BUNDLES[name].ofToday(), VERSION, calledItself);
    },
  };
}

/** Returns the options of startWorker for a released Worker, without the console's files. */
export function keptWorker(
  version: KeptVersion,
): Required<Pick<GatewayOptions, "bundle" | "files" | "config">> {
  return {
    bundle: unpacked(version, "worker.js"),
    files: new Map(),
    config: fileURLToPath(new URL(`${version}/wrangler.toml`, import.meta.url)),
  };
}

function unpacked(version: KeptVersion, file: string): string {
  return gunzipSync(readFileSync(new URL(`${version}/${file}.gz`, import.meta.url))).toString("utf8");
}

/** Replaces the version number, which occurs once in the code. */
function renumbered(code: string, from: string, to: string): string {
  const parts = code.split(`"${from}"`);
  if (parts.length !== 2) throw new Error(`"${from}" stands ${parts.length - 1} times in it, not once`);
  return parts.join(`"${to}"`);
}
