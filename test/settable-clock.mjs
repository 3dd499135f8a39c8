/**
 * Preloaded into a program (`NODE_OPTIONS=--import=…`): its wall clock can be set while it runs, as NTP does. At SIGUSR2 it is off by so many ms
 * as the file CLOCK_SET_BY says; its steady clock (`performance.now`) goes on. With CLOCK_SET_AT_START it is off so from its start.
 */
import { existsSync, readFileSync } from "node:fs";

const System = Date;
const file = process.env.CLOCK_SET_BY;
let by = process.env.CLOCK_SET_AT_START && existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
const now = () => System.now() + by;

globalThis.Date = class extends System {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }
  static now() {
    return now();
  }
};
process.on("SIGUSR2", () => {
  by = Number(readFileSync(file, "utf8"));
});
