/** The bridge as an app of Home Assistant, which is built from its own folder: this one is complete and can be copied to /addons. */
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const COPIED = ["config.yaml", "DOCS.md", "README.md", "apparmor.txt", "icon.png", "translations"];

/** Writes what the app's page in the store shows, and its settings. @param bridge the sources' folder @param to made if it is missing */
export async function writeAppPage(bridge: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of COPIED)
    await cp(join(bridge, "home-assistant", name), join(to, name), { recursive: true });
}

/** @param bridge the sources' folder @param program the built bridge.mjs @param to the new folder */
export async function writeHomeAssistantApp(bridge: string, program: string, to: string): Promise<void> {
  await writeAppPage(bridge, to);
  await mkdir(join(to, "dist"), { recursive: true });
  const parts = ["Dockerfile", "home-assistant/Dockerfile.end"].map((name) =>
    readFile(join(bridge, name), "utf8"),
  );
  await writeFile(join(to, "Dockerfile"), (await Promise.all(parts)).join(""));
  await copyFile(program, join(to, "dist/bridge.mjs"));
}
