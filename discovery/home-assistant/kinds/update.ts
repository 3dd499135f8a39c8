/** `update`: which version is installed, and installing the newest. */
import { withSteps } from "../../model/entity/draft.ts";
import { plain } from "../../model/entity/words.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

const INSTALL = 1;
/** A version begins with a digit; other texts are a stranger's. */
const VERSION = /^v?\d[\w.+:~-]{0,60}$/;

export function update(draft: HomeAssistantDraft): void {
  draft.stateSlot("outdated", onOff);
  draft.reading("outdated", (value) =>
    value === true ? "there is an update" : value === false ? "up to date" : plain(value),
  );
  for (const [slot, attribute, label] of [
    ["installed", "installed_version", "installed version"],
    ["latest", "latest_version", "latest version"],
  ] as const) {
    draft.slot(slot, ({ attributes }) => versionOf(attributes[attribute]));
    draft.reading(slot, plain, { label, isThere: (value) => value(slot) !== null });
  }
  draft.slot("progress", ({ attributes: { in_progress } }) =>
    typeof in_progress === "boolean" ? in_progress : null,
  );
  draft.reading("progress", (value) => (value === true ? "yes" : "no"), {
    label: "being installed",
    isThere: (value) => value("progress") === true,
  });
  if (!draft.can(INSTALL)) return;
  draft.danger = "it installs an update";
  draft.commands.push({
    action: "install",
    description: "Install the latest version, which may take minutes.",
    parameters: {},
    required: [],
    idempotent: false,
    wait: "update",
    targets: draft.targets,
    run: () => {
      const isReported = draft.reports("outdated");
      const done = draft.expectation("outdated", false, "up to date", (asked, value) => asked === value);
      return withSteps([draft.call("install")], isReported ? [done] : [], isReported ? [] : ["up to date"]);
    },
  });
}

function versionOf(value: unknown): string | null {
  return typeof value === "string" && VERSION.test(value) ? value : null;
}
