import { expect, test } from "vitest";
import { sharedClassNames } from "./class-names.ts";

test("an exported class name that two sources share is found with its paths", () => {
  const sources = [
    ["core/a.ts", "export class Ledger {}\nclass Own {}"],
    ["bridge/b.ts", "export abstract class Ledger {}\n  export class Inner {}"],
    ["node/c.ts", "class Own {}\nexport class Log {}"],
  ] as const;
  expect(sharedClassNames(sources)).toEqual(["Ledger: core/a.ts, bridge/b.ts"]);
});
