/** For containedAsNobody: folder, command, time-out in ms; prints what came of it as JSON. */
import { contained } from "./contained.ts";

const [folder = "", command = "", timeoutMs = "1000"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await contained(folder, command, Number(timeoutMs))));
