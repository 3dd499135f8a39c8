import { describe, expect, test } from "vitest";
import { PC } from "../../testing/boards/pc.ts";
import { PI_4 } from "../../testing/boards/pi-4.ts";
import { callTool } from "../../testing/call.ts";
import { failing, programs, saying } from "../../testing/programs/folder.ts";
import { tree } from "../../testing/tree.ts";
import { i2cDetect, i2cDetectMissing, i2cTable } from "./i2c-detect.ts";

const root = tree(PI_4);
const HEAD = "     0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f";
const EMPTY_ROW = " -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- --";
/** The output of i2c-tools 4.3: the first eight and the last eight addresses are left out. */
const TABLE = [
  HEAD,
  "00:                         -- -- -- -- -- -- -- -- ",
  ...[1, 2].map((row) => `${row}0:${EMPTY_ROW} `),
  "30: -- -- -- -- -- -- -- -- -- -- -- -- 3c -- -- -- ",
  "40: 40 -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- ",
  `50:${EMPTY_ROW} `,
  "60: -- -- -- -- -- -- -- -- UU -- -- -- -- -- -- -- ",
  "70: -- -- -- -- -- -- 76 --                         ",
].join("\n");

const at = (i2cdetect: string) => ({ root, exec: programs({ i2cdetect }) });

describe("i2c_detect", () => {
  test("addresses, and those that a driver uses", async () => {
    const { text, result } = await callTool(i2cDetect(at(saying(TABLE))));
    expect(text).toBe("I2C bus 1: 4 answered: addresses 0x3c, 0x40, 0x76; 0x68 (in use by a kernel driver)");
    expect(result.details).toEqual({
      bus: 1,
      addresses: ["0x3c", "0x40", "0x76"],
      driver_addresses: ["0x68"],
    });
  });

  test("no device", async () => {
    const empty = TABLE.replace("3c", "--")
      .replace(" 40 --", " -- --")
      .replace("UU", "--")
      .replace("76", "--");
    expect((await callTool(i2cDetect(at(saying(empty))))).text).toMatch(/^I2C bus 1: no chip answered\./);
  });

  test("columns are counted, because some cells are blank", () => {
    expect(i2cTable(`${HEAD}\n00:                         08 -- -- -- -- -- -- 0f \n`)).toEqual({
      free: ["0x08", "0x0f"],
      driven: [],
    });
    expect(i2cTable("Error: Could not open file")).toBeUndefined();
  });

  test("the bus number reaches the program", async () => {
    expect((await callTool(i2cDetect(at('echo "got $*" >&2; exit 1')), { bus: 3 })).text).toContain(
      "got -y 3",
    );
    for (const bus of [-1, 256, "1; id", 1.5]) {
      expect((await callTool(i2cDetect(at("exit 0")), { bus })).code, `${bus}`).toBe("invalid_params");
    }
  });

  test("an unknown bus, with the known ones", async () => {
    const words = "Error: Could not open file `/dev/i2c-5' or `/dev/i2c/5': No such file or directory";
    const { text, code } = await callTool(i2cDetect(at(failing(words))), { bus: 5 });
    expect(code).toBe("not_found");
    expect(text).toBe("Error: There is no I2C bus 5. Buses: 1 (bcm2835 (i2c@7e804000)), 20 (fef04500.i2c).");
  });

  test("without the group i2c", async () => {
    const words = "Error: Could not open file `/dev/i2c-1': Permission denied\nRun as root?";
    const { text, code } = await callTool(i2cDetect(at(failing(words))));
    expect(code).toBe("access_denied");
    expect(text).toContain("add it to the group i2c");
  });

  test("missing", async () => {
    expect(await i2cDetectMissing(at("exit 0"), "linux")).toBeUndefined();
    expect(await i2cDetectMissing({ root, exec: programs({}) }, "linux")).toBe(
      "no program 'i2cdetect': install i2c-tools",
    );
    expect(await i2cDetectMissing({ ...at("exit 0"), root: tree(PC) }, "linux")).toContain("no I2C bus");
    expect(await i2cDetectMissing(at("exit 0"), "darwin")).toContain("made for linux");
  });
});
