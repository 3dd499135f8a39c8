/**
 * `node release/home-assistant.ts FOLDER [REGISTRY]`: Home Assistant's repository of apps, as FOLDER/edgecall-home-assistant.tar.gz. Home Assistant
 * searches each folder of a repository, so it is one of its own: the release's owner commits these files there. With a registry, such as
 * ghcr.io/anna, the app's image comes from there; without one each Home Assistant builds it.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { ROOT } from "@edgecall/node/places.ts";
import { writeAppPage, writeHomeAssistantApp } from "../local/home-assistant-app.ts";
import { APP_IMAGE } from "./images.ts";

const ARCHIVE = "edgecall-home-assistant.tar.gz";
const SLUG = "edgecall_bridge";

/**
 * Writes the repository's files.
 * @param registry undefined: the app is built where it is installed, and dist/bridge.mjs has to be there
 * @param repository `owner/name` at the forge; undefined: not known
 */
export async function writeRepository(
  folder: string,
  { registry, repository }: { registry?: string | undefined; repository?: string | undefined } = {},
): Promise<void> {
  const [bridge, app] = [join(ROOT, "bridge"), join(folder, SLUG)];
  mkdirSync(folder, { recursive: true });
  const url = repository === undefined ? "" : `url: https://github.com/${repository}\n`;
  writeFileSync(join(folder, "repository.yaml"), `name: edgecall\n${url}maintainer: edgecall\n`);
  if (registry === undefined) await writeHomeAssistantApp(bridge, join(ROOT, "dist/bridge.mjs"), app);
  else {
    await writeAppPage(bridge, app);
    const file = join(app, "config.yaml");
    // The tag is the version.
    const image = `image: ${registry.toLowerCase()}/${APP_IMAGE}\n`;
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(/^arch:$/m, () => `${image}arch:`),
    );
  }
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  writeFileSync(join(app, "CHANGELOG.md"), newestOf(changelog));
}

/** The version's own section, whose links lead nowhere from here. */
function newestOf(changelog: string): string {
  const [core] = VERSION.split("-");
  const from = changelog.search(new RegExp(`^## ${core?.replaceAll(".", "\\.")}\\b`, "m"));
  if (from < 0) throw new Error(`CHANGELOG.md: no heading '## ${core}'`);
  const section = changelog.slice(from).split(/\n(?=## )/)[0] ?? "";
  return `# Changelog\n\n${section.trim().replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")}\n`;
}

if (import.meta.main) {
  const [out, registry] = process.argv.slice(2);
  if (out === undefined) throw new Error("usage: node release/home-assistant.ts FOLDER [REGISTRY]");
  const work = mkdtempSync(join(tmpdir(), "edgecall-apps-"));
  try {
    await writeRepository(work, { registry, repository: process.env.GITHUB_REPOSITORY });
    const owner = ["--owner=0", "--group=0", "--numeric-owner"];
    execFileSync("tar", ["-C", work, ...owner, "-czf", join(out, ARCHIVE), "."]);
    console.log(join(out, ARCHIVE));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
