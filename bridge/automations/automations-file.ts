/**
 * The file of the rules that act: the signed texts, what the machine knows of each, what the gateway is to be told, and the runs that
 * their own file does not have yet (run-records.ts). One write holds a firing, the beginning of its run and what is told of it.
 */
import { readFile } from "node:fs/promises";
import { HomeCommands, NO_COMMANDS } from "@edgecall/core/automations/home-limits.ts";
import { AutomationNews, AutomationRun, SaidPresence } from "@edgecall/core/protocol/automation.ts";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Log } from "@edgecall/node/log.ts";

const count = z.int().check(z.minimum(0));

/**
 * The newest that was ever seen of a rule, also of one that is gone: an older text of it is a repetition. `at`: when it was allowed. `firing`: the
 * last one of this version, so that no id of an action comes twice.
 */
const Seen = z.object({ version: count, at: z.number(), firing: count, dropped: z.boolean() });
export type Seen = z.infer<typeof Seen>;

/** One rule. Its state is read by itself: one that is damaged stops only its rule. */
const StoredRule = z.object({
  text: z.string(),
  state: z.unknown(),
  /** Runs that were done and not told, since the last news of it. */
  silent: count,
  /** The last firing that was news. */
  told: z.optional(count),
  /** The rule is gone, and only its present run is left. */
  leaving: z.boolean(),
});
type StoredRule = z.infer<typeof StoredRule>;

const File = z.object({
  version: z.literal(1),
  rules: z.array(StoredRule),
  seen: z.record(z.string(), Seen),
  commands: z.unknown(),
  news: z.array(z.unknown()),
  /** The number of the last news. */
  n: count,
  lost: count,
  said: z.array(SaidPresence),
  /** The last welcome of the home's gateway (epoch ms). */
  welcomed: z.optional(z.number()),
  /** The number of the newest presence of each agent that conditions are of, by its key. */
  agents: z.optional(z.record(z.string(), count)),
  /** Runs that their own file does not have yet. */
  records: z.optional(z.array(z.unknown())),
});

export type AutomationsContent = {
  rules: readonly StoredRule[];
  seen: Readonly<Record<string, Seen>>;
  commands: HomeCommands;
  news: readonly AutomationNews[];
  n: number;
  lost: number;
  said: readonly SaidPresence[];
  welcomed: number | undefined;
  agents: Readonly<Record<string, number>>;
  records: readonly AutomationRun[];
};

const NOTHING: AutomationsContent = {
  rules: [],
  seen: {},
  commands: NO_COMMANDS,
  news: [],
  n: 0,
  lost: 0,
  said: [],
  welcomed: undefined,
  agents: {},
  records: [],
};

/** The text of the file, which `readAutomations` reads. */
export function contentText(content: AutomationsContent): string {
  return JSON.stringify({ version: 1, ...content });
}

/** A damaged file counts as none: the gateway sees that rules are missing, and sends them. */
export async function readAutomations(path: string, log: Log): Promise<AutomationsContent> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") log("warn", "automations.unreadable", { error: error.message });
    return undefined;
  });
  if (text === undefined) return NOTHING;
  const file = checkJson(File, text);
  if (!file.ok) {
    log("warn", "automations.unreadable", { error: cutText(file.error, 300) });
    return NOTHING;
  }
  const { rules, seen, commands, news, n, lost, said, welcomed, agents = {}, records = [] } = file.value;
  const read = check(HomeCommands, commands);
  return {
    rules,
    seen,
    commands: read.ok ? read.value : NO_COMMANDS,
    news: valid(AutomationNews, news),
    n,
    lost,
    said,
    welcomed,
    agents,
    records: valid(AutomationRun, records),
  };
}

function valid<T>(schema: z.ZodMiniType<T>, all: readonly unknown[]): T[] {
  return all.flatMap((one) => {
    const read = check(schema, one);
    return read.ok ? [read.value] : [];
  });
}
