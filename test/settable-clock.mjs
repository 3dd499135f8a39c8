/**
 * Preloaded into a program (`NODE_OPTIONS=--import=…`): its wall clock can be set while it runs, as NTP does. At SIGUSR2 it is off by so many ms
 * as the file CLOCK_SET_BY says; its steady clock (`performance.now`) goes on.
 */
import { readFileSync } from "node:fs";

const System = Date;
let by = 0;
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
  by = Number(readFileSync(process.env.CLOCK_SET_BY, "utf8"));
});
