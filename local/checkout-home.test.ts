import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { claim } from "@edgecall/node/running.ts";
import { expect, test } from "vitest";
import { offerCheckoutHome } from "./checkout-home.ts";

/** A working folder with a home of 0.3.0 in it, and an empty place for the package's. */
function folders() {
  const root = mkdtempSync(join(tmpdir(), "edgecall-checkout-"));
  const from = join(root, ".edgecall");
  for (const name of ["agent", "bridge", "worker", "demo"]) mkdirSync(join(from, name), { recursive: true });
  writeFileSync(join(from, "tokens.json"), '{"api":"a","bridge":"b"}');
  writeFileSync(
    join(from, "agent.toml"),
    `# ${from}/agent is mine\nstate_dir = "${from}/agent"\n[tools]\nworkspace = "/else${from}/agent"\n`,
  );
  writeFileSync(join(from, "worker/rows"), "rows");
  return { cwd: root, from, dir: join(root, "state/edgecall") };
}

function offered({ cwd, dir }: { cwd: string; dir: string }, answer?: boolean) {
  const said: string[] = [];
  const asked: string[] = [];
  const confirm = async (question: string) => {
    asked.push(question);
    return answer === true;
  };
  const done = offerCheckoutHome({
    dir,
    cwd,
    confirm: answer === undefined ? undefined : confirm,
    say: (line) => said.push(line),
  });
  return { done, said, asked };
}

test("a yes copies the home, both places are named, and the checkout's stays as it was", async () => {
  const places = folders();
  const { from, dir } = places;
  // The demo may have run there before.
  mkdirSync(join(dir, "demo"), { recursive: true });
  writeFileSync(join(dir, "demo/mine"), "");
  const { done, said, asked } = offered(places, true);
  await done;
  expect(asked).toEqual([`${from} has a home of edgecall 0.3.0. Copy it to ${dir} and go on with it?`]);
  expect(said).toEqual([expect.stringContaining(`copied ${from} to ${dir}. The first one stays as it was`)]);
  expect(readdirSync(dir).sort()).toEqual(
    ["agent", "agent.toml", "bridge", "demo", "tokens.json", "version", "worker"].sort(),
  );
  expect(existsSync(join(dir, "demo/mine"))).toBe(true);
  expect(readFileSync(join(dir, "worker/rows"), "utf8")).toBe("rows");
  expect(readFileSync(join(dir, "version"), "utf8")).toBe(`${VERSION}\n`);
  expect(readFileSync(join(dir, "agent.toml"), "utf8")).toBe(
    `# ${from}/agent is mine\nstate_dir = "${dir}/agent"\n[tools]\nworkspace = "/else${from}/agent"\n`,
  );
  expect(readdirSync(join(dir, ".."))).toEqual(["edgecall"]);
  expect(readdirSync(from)).not.toContain("version");
  // It is offered once.
  const again = offered(places, true);
  await again.done;
  expect([again.asked, again.said]).toEqual([[], []]);
});

test("a no, and no person: nothing is copied, and the line says how to get it", async () => {
  const places = folders();
  const no = offered(places, false);
  await no.done;
  expect(no.said).toEqual([]);
  const alone = offered(places);
  await alone.done;
  expect(alone.said).toEqual([expect.stringContaining(`EDGECALL_DIR=${places.from} starts that one`)]);
  expect(existsSync(places.dir)).toBe(false);
});

test("a home that runs, and one of a newer edgecall, are not copied", async () => {
  const places = folders();
  const claimed = claim(places.from, "http://127.0.0.1:1");
  await expect(offered(places, true).done).rejects.toThrow(`a gateway runs in ${places.from}`);
  if (claimed.ok) claimed.release();
  writeFileSync(join(places.from, "version"), "99.0.0\n");
  await expect(offered(places, true).done).rejects.toThrow("was written by edgecall 99.0.0");
  expect(existsSync(places.dir)).toBe(false);
});

test("nothing that is in the package's folder is deleted: a gateway's own rows are a home, and other files are in the way", async () => {
  const places = folders();
  mkdirSync(join(places.dir, "worker"), { recursive: true });
  writeFileSync(join(places.dir, "worker/mine"), "");
  const rows = offered(places, true);
  await rows.done;
  expect(rows.asked).toEqual([]);
  expect(existsSync(join(places.dir, "worker/mine"))).toBe(true);

  const others = folders();
  mkdirSync(others.dir, { recursive: true });
  writeFileSync(join(others.dir, "agent.toml"), "mine");
  await expect(offered(others, true).done).rejects.toThrow(
    `${others.dir}/agent.toml is there already: move it away, or start the home where it is with EDGECALL_DIR=${others.from}. Nothing was copied`,
  );
  expect(readdirSync(others.dir)).toEqual(["agent.toml"]);
  expect(readFileSync(join(others.dir, "agent.toml"), "utf8")).toBe("mine");
  expect(readdirSync(others.from)).not.toContain("running.json");
});

test("two starts at once: while one copies, the other is refused in words", async () => {
  const places = folders();
  mkdirSync(places.dir, { recursive: true });
  const copying = claim(places.dir, `a copy of ${places.from}`);
  await expect(offered(places, true).done).rejects.toThrow(
    `process ${process.pid} uses ${places.dir} (a copy of ${places.from}): wait until it has ended. Nothing was copied`,
  );
  if (copying.ok) copying.release();
  expect(readdirSync(places.dir)).toEqual([]);
  expect(existsSync(join(places.from, "running.json"))).toBe(false);
});

test("a copy that was cut off is ended at the next start, unasked", async () => {
  const places = folders();
  const { from, dir } = places;
  // Half of it was in its place already.
  mkdirSync(join(dir, "worker"), { recursive: true });
  mkdirSync(join(dir, "checkout.copy/agent"), { recursive: true });
  cpSync(join(from, "tokens.json"), join(dir, "checkout.copy/tokens.json"));
  const { done, said, asked } = offered(places);
  await done;
  expect(asked).toEqual([]);
  expect(said).toEqual([`the copy of a checkout's home to ${dir} was cut off, and is whole now`]);
  expect(readdirSync(dir).sort()).toEqual(["agent", "tokens.json", "version", "worker"]);
});

test("no home in the working folder, and the checkout's own folder: nothing is asked", async () => {
  const places = folders();
  const own = offered({ cwd: places.cwd, dir: places.from }, true);
  await own.done;
  const other = offered({ cwd: join(places.cwd, "worker"), dir: places.dir }, true);
  await other.done;
  expect([...own.asked, ...other.asked]).toEqual([]);
});
