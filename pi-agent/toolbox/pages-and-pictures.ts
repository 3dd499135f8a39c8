/** The tools browser, canvas and image. Each module is loaded only when its tool can be used. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolSettings } from "../config/settings.ts";
import type { Environment } from "../env/environment.ts";
import { canvas } from "../tools/web/canvas.ts";
import { alone, type Group, missing } from "./group.ts";
import { loadBrowserTools } from "./optional-tools.ts";
import type { ToolboxState } from "./places.ts";

/** @param closing registers what must be closed at the agent's end */
export function pageAndPictureGroups(
  environment: Pick<Environment, "files">,
  settings: ToolSettings,
  state: Pick<ToolboxState, "llm">,
  closing: (close: () => Promise<void>) => void,
): Group[] {
  return [
    alone(canvas(environment)),
    imageGroup(environment, settings, state),
    browserGroup(settings, closing),
  ];
}

function imageGroup(
  environment: Pick<Environment, "files">,
  { web }: ToolSettings,
  state: Pick<ToolboxState, "llm">,
): Group {
  return {
    names: ["image"],
    missing: async () => await (await import("../tools/web/image.ts")).imageMissing(state),
    async make() {
      const { image } = await import("../tools/web/image.ts");
      if (!web) return [image(environment, state)];
      const { guardedFetch } = await import("../tools/web/web-guard.ts");
      const { allowed = [], only } = web;
      return [
        image(environment, state, { allowed, fetch: guardedFetch({ allowed, ...(only && { only }) }) }),
      ];
    },
  };
}

function browserGroup(
  { browser: settings }: ToolSettings,
  closing: (close: () => Promise<void>) => void,
): Group {
  if (!settings) return missing(["browser"], "enabled = false in [tools.browser] of agent.toml");
  return {
    names: ["browser"],
    async missing() {
      const loaded = await loadBrowserTools();
      return loaded.ok ? await loaded.module.browserMissing(settings) : loaded.missing;
    },
    async make(): Promise<Tool[]> {
      const loaded = await loadBrowserTools();
      if (!loaded.ok) throw new Error(loaded.missing);
      const { browser, Pages } = loaded.module;
      const pages = new Pages(settings);
      closing(() => pages.closeAll());
      return [{ ...browser(pages), sandbox: true }];
    },
  };
}
