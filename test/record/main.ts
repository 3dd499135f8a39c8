/**
 * `npm run record`: makes docs/pictures/tour.svg (the terminal) and, where ffmpeg is installed, docs/pictures/tour.mp4 (the console) from the
 * demo home, without a hand. test/e2e/record.test.ts compares their text.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@edgecall/node/places.ts";
import { hasFfmpeg, recordConsole } from "./console.ts";
import { svgOf } from "./svg.ts";
import { startDemo, typeTour } from "./tour.ts";

const PICTURES = join(ROOT, "docs/pictures");

const demo = await startDemo();
try {
  const svg = svgOf(await typeTour(demo));
  writeFileSync(join(PICTURES, "tour.svg"), svg);
  console.log(`tour.svg: ${Math.round(svg.length / 1024)} KB`);
  if (hasFfmpeg()) console.log(await recordConsole(demo, join(PICTURES, "tour.mp4")));
  else console.log("tour.mp4: not made, since ffmpeg is not installed");
} finally {
  await demo.stop();
}
