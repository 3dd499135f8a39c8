/** The bridge as an app of Home Assistant, which is built from its own folder: this one is complete and can be copied to /addons. */
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const COPIED = ["config.yaml", "DOCS.md", "icon.png"];

/** @param bridge the sources' folder @param program the built bridge.mjs @param to the new folder */
export async function writeHomeAssistantApp(bridge: string, program: string, to: string): Promise<void> {
  await mkdir(join(to, "dist"), { recursive: true });
  for (const name of COPIED) await copyFile(join(bridge, "home-assistant", name), join(to, name));
  const parts = ["Dockerfile", "home-assistant/Dockerfile.end"].map((name) =>
    readFile(join(bridge, name), "utf8"),
  );
  await writeFile(join(to, "Dockerfile"), (await Promise.all(parts)).join(""));
  await copyFile(program, join(to, "dist/bridge.mjs"));
}
