/**
 * The counted Worker that adds up instead of logging, for runs of thousands of agents or homes: a line for each row
 * would cost more than what is measured. The sums live as long as workerd does.
 */
import type { Env } from "../../worker/kernel/env.ts";
import { countedBy } from "./counted-objects.ts";
import type { Actor } from "./lines.ts";
import { addLine, emptyTally, FILL_PATH, SUMS_PATH, type Sums } from "./tally.ts";

const actor = () => ({ ...emptyTally(), busyMs: 0, bytes: 0 });
const sums: Sums = { worker: 0, Home: actor(), Conversation: actor() };

const counted = countedBy((line) => {
  if (line.cost === "worker") {
    sums.worker += 1;
    return;
  }
  const of: Actor = line.of;
  addLine(sums[of], line);
  if (line.cost === "size") sums[of].bytes = line.bytes;
  if (line.cost === "request" || line.cost === "work") sums[of].busyMs += line.to - line.from;
});
export const { Conversation } = counted;
export class Home extends counted.Home {
  /** Copies its newest settled call so many times, as if they had come within the time for which calls are kept. */
  fillLedger(count: number): number {
    const { sql } = this.ctx.storage;
    const columns = sql
      .exec<{ name: string }>("SELECT name FROM pragma_table_info('call')")
      .toArray()
      .map(({ name }) => name);
    const copied = columns.map((name) => (name === "id" ? "id || '-' || i" : (COPIED_TIMES[name] ?? name)));
    return sql.exec(
      `WITH RECURSIVE copy (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM copy WHERE i < ?)
       INSERT INTO call (${columns.join(", ")}) SELECT ${copied.join(", ")} FROM copy,
       (SELECT * FROM call WHERE state = 'settled' ORDER BY settled_at DESC LIMIT 1)`,
      count,
    ).rowsWritten;
  }
}
/** Each copy is older than the one before by 1.5 s: 100,000 of them take 42 hours. */
const COPIED_TIMES: Record<string, string> = {
  settled_at: "settled_at - i * 1500",
  created_at: "created_at - i * 1500",
  n: "n - i",
};

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === SUMS_PATH) return Response.json(sums);
    if (pathname !== FILL_PATH) return await counted.handler.fetch(request, env, ctx);
    const home = env.HOME.getByName(searchParams.get("home") ?? "") as unknown as Pick<Home, "fillLedger">;
    return Response.json(await home.fillLedger(Number(searchParams.get("calls"))));
  },
} satisfies ExportedHandler<Env>;
