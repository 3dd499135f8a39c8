/**
 * A conversation's to-do list: todowrite and todoread. It is the agent's own memory in its state folder and has no other
 * effect, so neither tool asks for an approval.
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { deleteOldest } from "@edgecall/node/oldest-files.ts";

export const MAX_ITEMS = 100;
const ITEM_CHARS = 500;
/** Most lists that are kept; the ones unused for longest are deleted first. */
export const MAX_LISTS = 200;

const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;
const FILTERS = ["all", "open", ...STATUSES] as const;
type Status = (typeof STATUSES)[number];
type Filter = (typeof FILTERS)[number];

const Item = z.strictObject({ id: z.int(), content: z.string(), status: z.enum(STATUSES) });
type Item = z.infer<typeof Item>;
const List = z.looseObject({ items: z.array(Item), next_id: z.int() });
type List = { items: readonly Item[]; next_id: number };

const Change = z.strictObject({
  id: z.optional(z.int()).check(z.describe("Of an item to change; without it the item is added")),
  content: z
    .optional(z.string().check(z.minLength(1), z.maxLength(ITEM_CHARS)))
    .check(z.describe("What is to be done")),
  status: z.optional(z.enum(STATUSES)),
});
type Change = z.infer<typeof Change>;

const common = { effect: "read", idempotent: true, timeoutMs: 10_000, maxTimeoutMs: 60_000 } as const;

/** @param place.stateDir the folder that holds `todos/` */
export function todo(place: { stateDir: string }): Tool[] {
  const lists = new Lists(join(place.stateDir, "todos"));
  return [todowrite(lists), todoread(lists)];
}

function todowrite(lists: Lists): Tool {
  return defineTool({
    name: "todowrite",
    description: `Add items to this conversation's to-do list, or change them: for work of several steps, so that none is forgotten. At most ${MAX_ITEMS} items of ${ITEM_CHARS} characters; finished ones make room. Gives back the list with its ids.`,
    input: z.strictObject({
      todos: z
        .array(Change)
        .check(z.minLength(1), z.maxLength(MAX_ITEMS), z.describe("Items to add or change")),
    }),
    ...common,
    async execute({ todos }, context): Promise<ToolResult> {
      return await lists.change(listFileName(context), (list) => {
        const next = todos.reduce<List | string>(
          (sofar, change) => (typeof sofar === "string" ? sofar : changed(sofar, change)),
          list,
        );
        if (typeof next === "string") return next;
        return next.items.length > MAX_ITEMS ? withRoom(next) : next;
      });
    },
  });
}

function todoread(lists: Lists): Tool {
  return defineTool({
    name: "todoread",
    description: "Read this conversation's to-do list.",
    input: z.strictObject({
      filter: z
        ._default(z.enum(FILTERS), "all")
        .check(z.describe("Only items of this status; open = pending and in_progress")),
    }),
    ...common,
    async execute({ filter }, context): Promise<ToolResult> {
      const list = await lists.read(listFileName(context));
      return typeof list === "string" ? unreadable(list) : listResult(list, filter);
    },
  });
}

/** @returns the changed list, or what is wrong with the change */
function changed(list: List, { id, content, status }: Change): List | string {
  // A model that repeats its whole list, for example after a crash, means the same items.
  const known = list.items.find((item) => (id === undefined ? item.content === content : item.id === id));
  if (id !== undefined && !known) return `there is no item ${id}; right would be one of: ${idsOf(list)}`;
  if (known) {
    const next = { ...known, ...(content !== undefined && { content }), ...(status && { status }) };
    return { ...list, items: list.items.map((item) => (item === known ? next : item)) };
  }
  if (content === undefined) return "todos: an item without an id needs content";
  const item: Item = { id: list.next_id, content, status: status ?? "pending" };
  return { items: [...list.items, item], next_id: list.next_id + 1 };
}

function withRoom(list: List): List | string {
  const over = list.items.length - MAX_ITEMS;
  const done = list.items.filter((item) => !isOpen(item)).slice(0, over);
  if (done.length < over) return `the list is full: ${MAX_ITEMS} items are open; finish or cancel some first`;
  return { ...list, items: list.items.filter((item) => !done.includes(item)) };
}

const MARKS: Record<Status, string> = {
  pending: "[ ]",
  in_progress: "[~]",
  completed: "[x]",
  cancelled: "[-]",
};

function listResult({ items }: List, filter: Filter): ToolResult {
  const wanted = items.filter(
    (item) => filter === "all" || item.status === filter || (filter === "open" && isOpen(item)),
  );
  const lines = wanted.map(({ id, content, status }) => `${id}. ${MARKS[status]} ${content}`);
  const open = items.filter(isOpen).length;
  const head = `${counted(items.length, "item")}, ${open} open${filter === "all" ? "" : `; ${filter}: ${wanted.length}`}`;
  const text = items.length === 0 ? "The to-do list is empty." : [head, ...lines].join("\n");
  return textResult(text, { items: wanted });
}

function isOpen({ status }: Item): boolean {
  return status === "pending" || status === "in_progress";
}

function idsOf({ items }: List): string {
  return items.map(({ id }) => id).join(", ") || "none, the list is empty";
}

function unreadable(problem: string): ToolResult {
  return faultResult("io", {
    text: `Error: The to-do list cannot be kept: ${problem}.`,
    advice: "Go on without it.",
  });
}

/** Without a conversation in the call, a person has one list for each channel. */
function listFileName({ caller: { principal, channel, conversation } }: Pick<ToolContext, "caller">): string {
  const whose = JSON.stringify(
    conversation === undefined ? [principal, channel] : [principal, channel, conversation],
  );
  return createHash("sha256").update(whose).digest("hex").slice(0, 32);
}

/** Stores each list in a file. Changes of one list run one after another. */
class Lists {
  readonly #folder: string;
  readonly #changing = new Map<string, Promise<unknown>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the list, or why it cannot be read */
  async read(key: string): Promise<List | string> {
    let text: string;
    try {
      text = await readFile(this.#path(key), "utf8");
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT"
        ? { items: [], next_id: 1 }
        : messageOf(error);
    }
    const list = checkJson(List, text);
    return list.ok ? list.value : list.error;
  }

  async change(key: string, edit: (list: List) => List | string): Promise<ToolResult> {
    const before = this.#changing.get(key) ?? Promise.resolve();
    const mine = before.then(() => this.#change(key, edit));
    this.#changing.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#changing.get(key) === mine) this.#changing.delete(key);
    }
  }

  async #change(key: string, edit: (list: List) => List | string): Promise<ToolResult> {
    const list = await this.read(key);
    if (typeof list === "string") return unreadable(list);
    const next = edit(list);
    if (typeof next === "string") {
      return faultResult(
        "invalid_params",
        `Error: Invalid parameters for 'todowrite': ${next}.\nNothing was changed.`,
      );
    }
    try {
      await writeAtomic(this.#path(key), JSON.stringify(next));
      if (list.items.length === 0) await deleteOldest(this.#folder, ".json", MAX_LISTS);
    } catch (error) {
      return unreadable(messageOf(error));
    }
    return listResult(next, "all");
  }

  #path(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}
