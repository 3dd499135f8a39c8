/**
 * Asks a store while the process can open no more files, while it may not read one, and when it can again. Its arguments are the file
 * of a day and the beginning of that day (epoch ms). It says in JSON what the store answered and logged.
 */
import { chmodSync, chownSync, closeSync, existsSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../log.ts";
import { DAY_MS } from "../day-file.ts";
import { HistoryStore } from "../store.ts";

const [, , file = "", time] = process.argv;
const folder = dirname(file);
const from = Number(time);
/** Of no person, on each system. */
const NOBODY = 65_534;
const logged: string[] = [];

const log = (level: string, event: string) => void logged.push(`${level} ${event}`);
const opened = () => HistoryStore.open({ folder, days: 400, maxBytes: 2 ** 28, log });

async function asked(store: HistoryStore): Promise<string> {
  try {
    const { samples, gaps } = await store.read({ device: "door", reading: "Contact" }, from, from + DAY_MS);
    return `${samples.length} values, ${gaps.length} gaps`;
  } catch (error) {
    return messageOf(error);
  }
}

function takeAll(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    return taken;
  }
}

/** Root may read all. */
function forbid(): () => void {
  const isRoot = process.getuid?.() === 0;
  chmodSync(file, 0);
  if (isRoot) {
    chownSync(folder, NOBODY, NOBODY);
    process.seteuid?.(NOBODY);
  }
  return () => {
    if (isRoot) process.seteuid?.(0);
    chmodSync(file, 0o600);
  };
}

const first = await opened();
const whole = await asked(first);
const taken = takeAll();
const full = await asked(first);
for (const one of taken) closeSync(one);
const later = await asked(first);
await first.close();

const allow = forbid();
const second = await opened();
const forbidden = await asked(second);
await second.forget("room", from + DAY_MS);
const isToGo = existsSync(join(folder, "deleting.json"));
allow();
const allowed = await asked(second);
await second.close();
console.log(JSON.stringify({ whole, full, later, forbidden, isToGo, allowed, logged }));
