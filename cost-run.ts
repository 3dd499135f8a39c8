import { mkdtempSync } from "node:fs";
import { measureCosts } from "./test/bench/cost/measure.ts";
import { Processes } from "./test/bench/processes.ts";

const dir = mkdtempSync("/tmp/costs-");
const processes = new Processes(dir);
try {
  const costs = await measureCosts(dir, processes, { slowMs: 500, idleMs: 500 });
  for (const t of costs.turns) {
    console.log(
      "##",
      t.what,
      "read",
      t.tally.rowsRead,
      "written",
      t.tally.rowsWritten,
      "awake",
      Math.round(t.awakeMs.asTheDocsSay),
    );
    for (const st of t.statements
      .filter((x) => x.read > 20)
      .sort((a, b) => b.read - a.read)
      .slice(0, 12))
      console.log("   ", st.times, st.read, st.written, st.of, st.sql.slice(0, 110));
  }
} finally {
}
process.exit(0);
